// cli/commands/audit.h
//
// skerryctl audit: checks what the journal says of a job's data.
#ifndef SKERRY_CLI_COMMANDS_AUDIT_H_
#define SKERRY_CLI_COMMANDS_AUDIT_H_

#include "cli/command.h"

namespace skerry::cli {

// Errors also: Internal when a sample is in two commits; the report is still
// printed.
Command AuditDataCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_AUDIT_H_
