#include "coordinator/convert/fields.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::coordinator {

absl::StatusOr<std::vector<std::vector<data::SampleRange>>> RangeListsFromProto(
    const RangeListsProto& lists, int ranges_max, absl::string_view field) {
  std::vector<std::vector<data::SampleRange>> out;
  for (const v1::SampleRanges& one : lists) {
    SKERRY_ASSIGN_OR_RETURN(std::vector<data::SampleRange> ranges,
                            RangesFromProto(one.ranges(), ranges_max, field));
    out.push_back(std::move(ranges));
  }
  return out;
}

void RangeListsToProto(const std::vector<std::vector<data::SampleRange>>& lists,
                       RangeListsProto* out) {
  for (const auto& ranges : lists) {
    RangesToProto(ranges, out->Add()->mutable_ranges());
  }
}

absl::StatusOr<WorkerIntent> IntentFromProto(v1::WorkerIntent intent,
                                             absl::string_view field) {
  switch (intent) {
    case v1::WORKER_INTENT_SERVE:
      return WorkerIntent::kServe;
    case v1::WORKER_INTENT_CORDON:
      return WorkerIntent::kCordon;
    case v1::WORKER_INTENT_DRAIN:
      return WorkerIntent::kDrain;
    default:
      return BadField(field,
                      absl::StrCat("is unknown: ", static_cast<int>(intent)));
  }
}

v1::WorkerIntent IntentToProto(WorkerIntent intent) {
  switch (intent) {
    case WorkerIntent::kServe:
      return v1::WORKER_INTENT_SERVE;
    case WorkerIntent::kCordon:
      return v1::WORKER_INTENT_CORDON;
    case WorkerIntent::kDrain:
      return v1::WORKER_INTENT_DRAIN;
  }
  return v1::WORKER_INTENT_UNSPECIFIED;
}

}  // namespace skerry::coordinator
