// coordinator/convert/operator.h
//
// Converts the core's views to messages of operator.proto. Each function
// replaces what is in `out`.
#ifndef SKERRY_COORDINATOR_CONVERT_OPERATOR_H_
#define SKERRY_COORDINATOR_CONVERT_OPERATOR_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/core/log/audit.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/rules/state_view.h"
#include "coordinator/core/views/job_plan.h"
#include "coordinator/core/views/views.h"
#include "proto/skerry/v1/operator.pb.h"

namespace skerry::coordinator {

void JobViewToProto(const JobView& view, v1::JobView* out);
// The checkpoint that an operator has chosen; none: what workers hold. Errors:
// InvalidArgument, naming the field.
absl::StatusOr<std::optional<Checkpointed>> RestoreChoiceFromProto(
    const v1::RestoreJobRequest& request);
void WorkerViewToProto(const WorkerView& view, v1::WorkerView* out);
void EventToProto(const EventView& event, absl::Duration age, v1::Event* out);
void StateViewToProto(const StateView& view, v1::StateView* out);
void JobPlanToProto(const JobPlan& plan, v1::PlanJobReply* out);
void AuditReportToProto(const AuditReport& report, v1::AuditDataReply* out);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CONVERT_OPERATOR_H_
