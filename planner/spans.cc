#include "planner/spans.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::planner {
namespace {

constexpr uint64_t kElementsMax = uint64_t{1} << 48;

}  // namespace

absl::StatusOr<std::vector<SpanRange>> CutSpans(uint64_t element_count,
                                                uint32_t spans_per_fragment,
                                                uint64_t alignment) {
  if (element_count == 0 || element_count > kElementsMax) {
    return absl::InvalidArgumentError(
        "a fragment has to have 1 to 2^48 elements");
  }
  if (spans_per_fragment == 0) {
    return absl::InvalidArgumentError("a fragment needs at least one span");
  }
  if (alignment == 0 || alignment > kElementsMax) {
    return absl::InvalidArgumentError("span alignment has to be 1 to 2^48");
  }
  // Dealt out in units of one alignment, the first spans taking one more.
  const uint64_t units = (element_count + alignment - 1) / alignment;
  const uint64_t count = std::min<uint64_t>(spans_per_fragment, units);
  const uint64_t units_each = units / count;
  const uint64_t with_one_more = units % count;
  std::vector<SpanRange> spans;
  spans.reserve(count);
  uint64_t begin = 0;
  for (uint64_t s = 0; s < count; ++s) {
    const uint64_t size =
        (units_each + (s < with_one_more ? 1 : 0)) * alignment;
    const uint64_t end = std::min(begin + size, element_count);
    spans.push_back({begin, end});
    begin = end;
  }
  return spans;
}

absl::StatusOr<std::vector<std::vector<SpanRange>>> CutFragments(
    uint64_t element_count, uint32_t fragments, uint32_t spans_per_fragment,
    uint64_t alignment) {
  // Says what is wrong with the other numbers.
  SKERRY_RETURN_IF_ERROR(
      CutSpans(element_count, spans_per_fragment, alignment).status());
  const uint64_t units = (element_count + alignment - 1) / alignment;
  if (fragments == 0 || units < fragments) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a model of ", element_count, " elements cannot be cut into ",
        fragments, " fragments of at least ", alignment, " elements each"));
  }
  const auto each = static_cast<uint32_t>(
      std::min<uint64_t>(spans_per_fragment, units / fragments));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<SpanRange> spans,
                          CutSpans(element_count, each * fragments, alignment));
  std::vector<std::vector<SpanRange>> cut;
  for (uint32_t f = 0; f < fragments; ++f) {
    cut.emplace_back(spans.begin() + f * each, spans.begin() + (f + 1) * each);
  }
  return cut;
}

}  // namespace skerry::planner
