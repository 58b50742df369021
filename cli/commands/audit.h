// cli/commands/audit.h
//
// skerryctl audit: whether the journal says that all is well.
#ifndef SKERRY_CLI_COMMANDS_AUDIT_H_
#define SKERRY_CLI_COMMANDS_AUDIT_H_

#include "cli/command.h"

namespace skerry::cli {

// Internal when a sample is in two commits; the report is still printed.
Command AuditDataCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_AUDIT_H_
