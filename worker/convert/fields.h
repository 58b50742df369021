// worker/convert/fields.h
//
// Fields that several messages share.
#ifndef SKERRY_WORKER_CONVERT_FIELDS_H_
#define SKERRY_WORKER_CONVERT_FIELDS_H_

#include <google/protobuf/repeated_field.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/sample_ranges.h"
#include "proto/skerry/v1/types.pb.h"
#include "worker/core/orders.h"

namespace skerry::worker {

using SampleRangesProto = google::protobuf::RepeatedPtrField<v1::SampleRange>;

absl::Status BadField(absl::string_view field, absl::string_view what);

// Errors: InvalidArgument for an empty range, or two that overlap.
absl::StatusOr<data::RangeSet> RangesFromProto(const SampleRangesProto& ranges,
                                               absl::string_view field);
void RangesToProto(const data::RangeSet& ranges, SampleRangesProto* out);

// Errors: InvalidArgument for a number that is not finite.
absl::StatusOr<RoundScalars> ScalarsFromProto(const v1::RoundScalars& scalars,
                                              absl::string_view field);
void ScalarsToProto(const RoundScalars& scalars, v1::RoundScalars* out);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CONVERT_FIELDS_H_
