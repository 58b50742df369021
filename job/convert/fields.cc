#include "job/convert/fields.h"

#include "absl/strings/str_cat.h"

namespace skerry::job {

absl::Status BadField(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", what));
}

absl::Status CheckText(const std::string& text, size_t bytes_max,
                       absl::string_view field) {
  if (text.size() <= bytes_max) return absl::OkStatus();
  return BadField(field, absl::StrCat("has ", text.size(), " bytes, at most ",
                                      bytes_max, " are allowed"));
}

absl::StatusOr<std::vector<data::SampleRange>> RangesFromProto(
    const RangesProto& ranges, int ranges_max, absl::string_view field) {
  if (ranges.size() > ranges_max) {
    return BadField(field, absl::StrCat("has ", ranges.size(),
                                        " ranges, at most ", ranges_max));
  }
  std::vector<data::SampleRange> all;
  uint64_t last = 0;
  for (const v1::SampleRange& range : ranges) {
    if (range.begin() >= range.end()) return BadField(field, "is empty");
    if (range.begin() < last) {
      return BadField(field, "has to ascend without overlap");
    }
    last = range.end();
    all.push_back({range.begin(), range.end()});
  }
  return all;
}

void RangesToProto(std::span<const data::SampleRange> ranges,
                   RangesProto* out) {
  out->Clear();
  for (const data::SampleRange& range : ranges) {
    v1::SampleRange* one = out->Add();
    one->set_begin(range.begin);
    one->set_end(range.end);
  }
}

}  // namespace skerry::job
