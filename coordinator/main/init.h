// coordinator/main/init.h
//
// Runs `skerry-coordinator init`, which makes a cluster in a state folder and
// gives the first operator what is needed to speak to it.
#ifndef SKERRY_COORDINATOR_MAIN_INIT_H_
#define SKERRY_COORDINATOR_MAIN_INIT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/main/arguments.h"
#include "runtime/files.h"

namespace skerry::coordinator {

struct InitArguments {
  std::string cluster;
  std::string state;
  // host:port at which others will reach the coordinator.
  std::string advertise;
  // A folder that has this very cluster already is left as it is.
  bool if_missing = false;
};

struct ParsedInit {
  // None when there is nothing to run.
  std::optional<InitArguments> arguments;
  // These say what to print and how to exit, as those of Parsed do.
  std::string text;
  ExitCode code = ExitCode::kStopped;
};

// `words` without the program's name and without "init".
ParsedInit ParseInit(std::vector<std::string> words);

// Makes the cluster and the bundle of an admin in the folder. Returns what to
// tell the operator, some lines. `draw` returns random bits.
//
// Errors: of ClusterIdentity::Make; with `if_missing` AlreadyExists only when
// the folder has a cluster of another name or address, and then errors of
// ClusterIdentity::Open too.
absl::StatusOr<std::string> Init(const InitArguments& arguments,
                                 absl::FunctionRef<uint64_t()> draw,
                                 absl::Time now, runtime::Files& files);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_MAIN_INIT_H_
