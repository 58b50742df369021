// cli/commands/plan.h
//
// skerryctl plan: what submitting a job would lead to.
#ifndef SKERRY_CLI_COMMANDS_PLAN_H_
#define SKERRY_CLI_COMMANDS_PLAN_H_

#include <string>

#include "absl/status/status.h"
#include "cli/client.h"
#include "cli/output.h"

namespace skerry::cli {

// Nothing is changed. Errors: of ReadJobFile and the client's; InvalidArgument
// when the model's config.json is none that a trainer builds.
absl::Status PlanJob(Client& client, const std::string& file,
                     const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_PLAN_H_
