#include "worker/convert/fields.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"

namespace skerry::worker {

absl::Status BadField(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", what));
}

absl::StatusOr<data::RangeSet> RangesFromProto(const SampleRangesProto& ranges,
                                               absl::string_view field) {
  std::vector<data::SampleRange> all;
  uint64_t total = 0;
  for (const v1::SampleRange& range : ranges) {
    if (range.begin() >= range.end()) return BadField(field, "empty range");
    all.push_back({range.begin(), range.end()});
    const uint64_t size = range.end() - range.begin();
    if (total > UINT64_MAX - size) return BadField(field, "ranges overlap");
    total += size;
  }
  data::RangeSet set(all);
  if (set.total() != total) return BadField(field, "ranges overlap");
  return set;
}

void RangesToProto(const data::RangeSet& ranges, SampleRangesProto* out) {
  for (const data::SampleRange& range : ranges.ranges()) {
    v1::SampleRange* one = out->Add();
    one->set_begin(range.begin);
    one->set_end(range.end);
  }
}

absl::StatusOr<RoundScalars> ScalarsFromProto(const v1::RoundScalars& scalars,
                                              absl::string_view field) {
  for (const double value :
       {scalars.loss(), scalars.delta_squared_norm(), scalars.compute_s()}) {
    if (!std::isfinite(value)) return BadField(field, "not finite");
  }
  return RoundScalars{scalars.loss(), scalars.inner_steps(),
                      scalars.delta_squared_norm(), scalars.compute_s()};
}

void ScalarsToProto(const RoundScalars& scalars, v1::RoundScalars* out) {
  out->set_loss(scalars.loss);
  out->set_inner_steps(scalars.inner_steps);
  out->set_delta_squared_norm(scalars.delta_squared_norm);
  out->set_compute_s(scalars.compute_s);
}

}  // namespace skerry::worker
