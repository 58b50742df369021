// cli/plan_view.h
//
// A plan as people read it. Pure: a message in, text out.
#ifndef SKERRY_CLI_PLAN_VIEW_H_
#define SKERRY_CLI_PLAN_VIEW_H_

#include <optional>
#include <string>

#include "cli/program_description.h"
#include "proto/skerry/v1/operator.pb.h"

namespace skerry::cli {

// `parameters` as they were sent with the request. `description` is that of the
// job's program, where there is one and somebody has measured it.
std::string PlanDescription(
    const v1::PlanJobReply& plan, uint64_t parameters,
    const std::optional<ProgramDescription>& description = std::nullopt);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_PLAN_VIEW_H_
