// cli/worker_view.h
//
// One worker as people read it.
#ifndef SKERRY_CLI_WORKER_VIEW_H_
#define SKERRY_CLI_WORKER_VIEW_H_

#include <string>
#include <vector>

#include "proto/skerry/v1/operator.pb.h"

namespace skerry::cli {

// What it is, the links that it has measured and these events.
std::string WorkerDescription(const v1::WorkerView& worker,
                              const std::vector<v1::Event>& events);

// StoredJobView.state of a job that the coordinator does not know.
inline constexpr char kUnknownJob[] = "unknown";

// "12.5 Mbit/s".
std::string RateText(double bytes_per_s);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_WORKER_VIEW_H_
