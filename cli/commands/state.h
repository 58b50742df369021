// cli/commands/state.h
//
// skerryctl state: what the journal of a stopped coordinator holds, and whether
// it is whole. Speaks to no coordinator and changes nothing in the folder.
#ifndef SKERRY_CLI_COMMANDS_STATE_H_
#define SKERRY_CLI_COMMANDS_STATE_H_

#include <string>

#include "absl/status/status.h"
#include "cli/command.h"
#include "cli/output.h"

namespace skerry::cli {

struct StateArguments {
  // The coordinator's --state.
  std::string folder;
  // export: records instead of what they come to.
  bool records = false;
  // backup: folder to make.
  std::string to;
};

// Errors, of all: FailedPrecondition while a coordinator serves from the
// folder, or when the file is of another program or a newer release; NotFound;
// DataLoss when it is damaged, naming the place.

// One JSON object: the state as a v1::JournalSnapshot; or, a line each, the
// snapshot in the file and every record after it.
absl::Status ExportState(const StateArguments& arguments, const Output& output);

// Checks pages, checksums and order, replays everything, and looks for samples
// that are in more than one commit (DataLoss).
absl::Status VerifyState(const StateArguments& arguments, const Output& output);

// Writes `to`/journal.db, then checks it as VerifyState does. AlreadyExists
// when there is one.
absl::Status BackUpState(const StateArguments& arguments, const Output& output);

Command ExportStateCommand();
Command VerifyStateCommand();
Command BackUpStateCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_STATE_H_
