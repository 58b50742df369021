// cli/diagnosis.h
//
// Finds what is wrong with a cluster in evidence that was gathered before, as
// an operator would. This is pure code: it has no clock and no network.
#ifndef SKERRY_CLI_DIAGNOSIS_H_
#define SKERRY_CLI_DIAGNOSIS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/check.h"
#include "proto/skerry/v1/operator.pb.h"
#include "runtime/machine.h"

namespace skerry::cli {

// Whether nobody of another island dials the worker: it opens its streams to
// the others, or to a relay. WorkerView.reached says so.
bool IsNotDialled(const v1::WorkerView& worker);

struct Evidence {
  // The coordinator's address, and what it answered.
  std::string address;
  absl::StatusOr<v1::GetVersionReply> version = absl::UnknownError("not asked");
  // This machine's wall clock in the middle of that call, and half the time
  // that the call took.
  int64_t asked_unix_ms = 0;
  int64_t asked_half_ms = 0;
  // Empty when the coordinator did not answer.
  v1::ListWorkersReply workers;
  v1::ListJobsReply jobs;
  // Whether a worker's address answers, by the worker's name.
  std::map<std::string, absl::Status> ports;
  // State folders on this machine.
  struct Folder {
    std::string path;
    absl::Status usable;
    protocol::MachineFacts disk;
  };
  std::vector<Folder> folders;
};

// Returns one check for each thing that is wrong, and one for each kind of
// thing that is well.
std::vector<Check> Diagnose(const Evidence& evidence);

// One line a check.
std::string ChecksText(const std::vector<Check>& checks);
// {"problems", "warnings", "checks": [{"verdict", "about", "text"}]}
std::string ChecksJson(const std::vector<Check>& checks);
size_t CountProblems(const std::vector<Check>& checks);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_DIAGNOSIS_H_
