#include "planner/spans.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::planner {
namespace {

constexpr uint64_t kElementsMax = uint64_t{1} << 48;

uint64_t UnitsOf(uint64_t elements, uint64_t alignment) {
  return (elements + alignment - 1) / alignment;
}

// Cuts the elements before `average_begin` and those from there on apart, into
// `each * fragments` spans together, and returns them in order.
//
// Requires: both parts have an alignment for each of their spans, however the
// spans are dealt out.
absl::StatusOr<std::vector<SpanRange>> CutApart(uint64_t element_count,
                                                uint64_t average_begin,
                                                uint32_t fragments,
                                                uint32_t each,
                                                uint64_t alignment) {
  const uint64_t stepped = UnitsOf(average_begin, alignment);
  const uint64_t averaged = UnitsOf(element_count - average_begin, alignment);
  const uint64_t count = uint64_t{each} * fragments;
  // Averaged spans get a share of the spans by their size, so that all spans
  // are about as large, and each part gets one at least.
  const uint64_t least =
      std::max<uint64_t>(1, count - std::min(count, stepped));
  const uint64_t most = std::min({averaged, uint64_t{each}, count - 1});
  const uint64_t ends = std::clamp<uint64_t>(
      count * averaged / (stepped + averaged), least, most);
  SKERRY_ASSIGN_OR_RETURN(
      std::vector<SpanRange> spans,
      CutSpans(average_begin, static_cast<uint32_t>(count - ends), alignment));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<SpanRange> last,
                          CutSpans(element_count - average_begin,
                                   static_cast<uint32_t>(ends), alignment));
  for (const SpanRange& span : last) {
    spans.push_back({average_begin + span.begin, average_begin + span.end});
  }
  return spans;
}

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
  const uint64_t units = UnitsOf(element_count, alignment);
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
    uint64_t average_begin, uint64_t alignment) {
  // Says what is wrong with the other numbers.
  SKERRY_RETURN_IF_ERROR(
      CutSpans(element_count, spans_per_fragment, alignment).status());
  if (average_begin >= element_count || average_begin % alignment != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "averaged values cannot begin at element ", average_begin, " of ",
        element_count, ": it has to be a multiple of ", alignment));
  }
  const uint64_t units = UnitsOf(element_count, alignment);
  // All fragments but the last have nothing that is averaged.
  const bool apart = average_begin > 0;
  const uint64_t stepped = apart ? average_begin / alignment : units;
  if (fragments == 0 || units < fragments || stepped < fragments - 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a model of ", element_count, " elements cannot be cut into ",
        fragments, " fragments of at least ", alignment, " elements each"));
  }
  uint64_t most = std::min<uint64_t>(spans_per_fragment, units / fragments);
  if (apart && fragments > 1) most = std::min(most, stepped / (fragments - 1));
  if (apart && fragments == 1) most = std::max<uint64_t>(most, 2);
  const auto each = static_cast<uint32_t>(most);
  SKERRY_ASSIGN_OR_RETURN(
      const std::vector<SpanRange> spans,
      apart ? CutApart(element_count, average_begin, fragments, each, alignment)
            : CutSpans(element_count, each * fragments, alignment));
  std::vector<std::vector<SpanRange>> cut;
  for (uint32_t f = 0; f < fragments; ++f) {
    cut.emplace_back(spans.begin() + f * each, spans.begin() + (f + 1) * each);
  }
  return cut;
}

}  // namespace skerry::planner
