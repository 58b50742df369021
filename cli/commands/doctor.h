// cli/commands/doctor.h
//
// skerryctl doctor: looks at everything that an operator would, and says what
// is wrong.
#ifndef SKERRY_CLI_COMMANDS_DOCTOR_H_
#define SKERRY_CLI_COMMANDS_DOCTOR_H_

#include "cli/command.h"

namespace skerry::cli {

// Prints one line a check. The exit code is kConflict when something is a
// problem, kUnavailable when the coordinator does not answer; warnings alone
// are kOk.
Command DoctorCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DOCTOR_H_
