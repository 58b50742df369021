// coordinator/main/change_ca.h
//
// Runs `skerry-coordinator replace-ca` and `retire-ca`, which exchange the CA
// of a cluster while it runs.
#ifndef SKERRY_COORDINATOR_MAIN_CHANGE_CA_H_
#define SKERRY_COORDINATOR_MAIN_CHANGE_CA_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/main/arguments.h"
#include "runtime/files.h"

namespace skerry::coordinator {

enum class CaChange { kReplace, kRetire };

// The word that comes after the program's name.
const char* CommandOf(CaChange change);

struct CaChangeArguments {
  CaChange change = CaChange::kReplace;
  std::string state;
  // For kRetire alone: whoever has a certificate of the old CA is shut out.
  bool at_once = false;
};

struct ParsedCaChange {
  // None when there is nothing to run.
  std::optional<CaChangeArguments> arguments;
  // These say what to print and how to exit, as those of Parsed do.
  std::string text;
  ExitCode code = ExitCode::kStopped;
};

// `words` without the program's name and the command.
ParsedCaChange ParseCaChange(CaChange change, std::vector<std::string> words);

// Returns what to tell the operator, some lines. A coordinator that runs on the
// folder takes the change into use by itself. Errors: FailedPrecondition when
// the folder has no cluster; those of ReplaceAuthority and RetireAuthority.
absl::StatusOr<std::string> ChangeCa(const CaChangeArguments& arguments,
                                     absl::Time now, runtime::Files& files);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_MAIN_CHANGE_CA_H_
