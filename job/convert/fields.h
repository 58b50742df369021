// job/convert/fields.h
//
// Checks texts and sample ranges of incoming messages.
#ifndef SKERRY_JOB_CONVERT_FIELDS_H_
#define SKERRY_JOB_CONVERT_FIELDS_H_

#include <google/protobuf/repeated_field.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/sample_ranges.h"
#include "proto/skerry/v1/types.pb.h"

namespace skerry::job {

inline constexpr size_t kNameBytesMax = 256;
inline constexpr size_t kTextBytesMax = 16 * 1024;
inline constexpr int kRangesMax = 1024;

// InvalidArgument: "FIELD: WHAT".
absl::Status BadField(absl::string_view field, absl::string_view what);

// Errors: InvalidArgument names the field when the text is above `bytes_max`.
absl::Status CheckText(const std::string& text, size_t bytes_max,
                       absl::string_view field);

using RangesProto = google::protobuf::RepeatedPtrField<v1::SampleRange>;
// Errors: InvalidArgument names the field when there are more than
// `ranges_max`, or when they are empty, overlap or do not ascend.
absl::StatusOr<std::vector<data::SampleRange>> RangesFromProto(
    const RangesProto& ranges, int ranges_max, absl::string_view field);
void RangesToProto(std::span<const data::SampleRange> ranges, RangesProto* out);

}  // namespace skerry::job

#endif  // SKERRY_JOB_CONVERT_FIELDS_H_
