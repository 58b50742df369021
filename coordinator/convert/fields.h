// coordinator/convert/fields.h
//
// Converts values that the journal, snapshots and operators share between
// proto/skerry/v1 and the core.
#ifndef SKERRY_COORDINATOR_CONVERT_FIELDS_H_
#define SKERRY_COORDINATOR_CONVERT_FIELDS_H_

#include <google/protobuf/repeated_field.h>

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/core/log/worker_intent.h"
#include "job/convert/fields.h"
#include "proto/skerry/v1/types.pb.h"
#include "protocol/convert/fields.h"

namespace skerry::coordinator {

using job::BadField;
using job::RangesProto;
using protocol::RangeSetFromProto;
using protocol::RangeSetToProto;

// Every function that reads fails with InvalidArgument and names the field.

// One set of ranges for each fragment.
using RangeSetsProto = google::protobuf::RepeatedPtrField<v1::SampleRanges>;
absl::StatusOr<std::vector<data::RangeSet>> RangeSetsFromProto(
    const RangeSetsProto& sets, int ranges_max, absl::string_view field);
void RangeSetsToProto(const std::vector<data::RangeSet>& sets,
                      RangeSetsProto* out);

absl::StatusOr<WorkerIntent> IntentFromProto(v1::WorkerIntent intent,
                                             absl::string_view field);
v1::WorkerIntent IntentToProto(WorkerIntent intent);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CONVERT_FIELDS_H_
