#include "coordinator/convert/fields.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::coordinator {

absl::StatusOr<std::vector<data::RangeSet>> RangeSetsFromProto(
    const RangeSetsProto& sets, int ranges_max, absl::string_view field) {
  std::vector<data::RangeSet> out;
  for (const v1::SampleRanges& one : sets) {
    SKERRY_ASSIGN_OR_RETURN(data::RangeSet ranges,
                            RangeSetFromProto(one.ranges(), ranges_max, field));
    out.push_back(std::move(ranges));
  }
  return out;
}

void RangeSetsToProto(const std::vector<data::RangeSet>& sets,
                      RangeSetsProto* out) {
  for (const data::RangeSet& ranges : sets) {
    RangeSetToProto(ranges, out->Add()->mutable_ranges());
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
