// cli/plan_view.h
//
// A plan as people read it. Pure: a message in, text out.
#ifndef SKERRY_CLI_PLAN_VIEW_H_
#define SKERRY_CLI_PLAN_VIEW_H_

#include <string>

#include "proto/skerry/v1/operator.pb.h"

namespace skerry::cli {

// `parameters` as they were sent with the request.
std::string PlanDescription(const v1::PlanJobReply& plan, uint64_t parameters);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_PLAN_VIEW_H_
