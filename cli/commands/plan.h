// cli/commands/plan.h
//
// skerryctl plan: shows what would happen if a job were submitted.
#ifndef SKERRY_CLI_COMMANDS_PLAN_H_
#define SKERRY_CLI_COMMANDS_PLAN_H_

#include "absl/status/statusor.h"
#include "cli/client.h"
#include "cli/command.h"

namespace skerry::cli {

// Makes a plan once every worker that the job may use has said what it finds
// under data.path, or after three seconds. Errors: the client's.
absl::StatusOr<v1::PlanJobReply> PlanWithData(
    Client& client, const v1::PlanJobRequest& request);

// Changes nothing. Errors also: InvalidArgument when the model's config.json is
// none that a trainer builds.
Command PlanCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_PLAN_H_
