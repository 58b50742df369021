// cli/top_view.h
//
// What skerryctl top shows: unfinished jobs with their current speed, and
// workers. Pure: messages in, text out.
#ifndef SKERRY_CLI_TOP_VIEW_H_
#define SKERRY_CLI_TOP_VIEW_H_

#include <cstdint>
#include <map>
#include <string>

#include "proto/skerry/v1/operator.pb.h"

namespace skerry::cli {

class TopView {
 public:
  // Speeds and stalls cover the time since the previous call. For a job that
  // the previous call did not show, they are the averages that the coordinator
  // reports.
  std::string Text(const v1::ListJobsReply& jobs,
                   const v1::ListWorkersReply& workers);

 private:
  // The age and totals of a job at the last call.
  struct Seen {
    uint64_t age_ms = 0;
    uint64_t samples = 0;
    double compute_s = 0;
    double stall_s = 0;
  };

  std::map<uint64_t, Seen> seen_;  // by job
};

}  // namespace skerry::cli

#endif  // SKERRY_CLI_TOP_VIEW_H_
