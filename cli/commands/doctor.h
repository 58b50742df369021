// cli/commands/doctor.h
//
// skerryctl doctor: looks at everything that an operator would, and says what
// is wrong.
#ifndef SKERRY_CLI_COMMANDS_DOCTOR_H_
#define SKERRY_CLI_COMMANDS_DOCTOR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/output.h"

namespace skerry::cli {

struct DoctorArguments {
  // State folders of daemons on this machine.
  std::vector<std::string> folders;
};

// One line a check. kConflict when something is a problem, kUnavailable when
// the coordinator does not answer; warnings alone are kOk.
ExitCode RunDoctor(Client& client, const std::string& address,
                   const DoctorArguments& arguments, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DOCTOR_H_
