// worker/convert/control.h
//
// Converts control.proto to the worker's core types and back. Every check of a
// coordinator's message is here. A message that passes cannot break a promise
// of the core.
#ifndef SKERRY_WORKER_CONVERT_CONTROL_H_
#define SKERRY_WORKER_CONVERT_CONTROL_H_

#include "absl/status/statusor.h"
#include "proto/skerry/v1/control.pb.h"
#include "proto/skerry/v1/job.pb.h"
#include "worker/core/facts.h"
#include "worker/core/orders.h"

namespace skerry::worker {

// The part of a description that a worker reads, defaults filled in.
//
// Errors: InvalidArgument names the field.
absl::StatusOr<JobSettings> JobSettingsFromProto(const v1::JobSpec& spec);

// Whether it is one of the phases that a job does not leave.
bool HasEnded(v1::JobPhase phase);

// Errors: InvalidArgument names the field and what is wrong. A model in several
// fragments is refused: this release exchanges a model as one.
absl::StatusOr<JobOrders> JobOrdersFromProto(const v1::JobOrders& orders);

// Replaces `status`.
void JobFactsToProto(const JobFacts& facts, v1::JobStatus* status);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CONVERT_CONTROL_H_
