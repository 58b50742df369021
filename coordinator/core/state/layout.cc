#include "coordinator/core/state/layout.h"

#include "base/check.h"
#include "planner/holders.h"
#include "planner/spans.h"

namespace skerry::coordinator {

uint32_t SpanCount(uint64_t element_count, uint32_t spans_max,
                   uint32_t fragments, uint64_t average_begin) {
  const auto cut =
      planner::CutFragments(element_count, fragments, spans_max, average_begin);
  return cut.ok() ? static_cast<uint32_t>(cut->front().size()) : 0;
}

std::vector<uint64_t> SpanElements(uint64_t element_count, uint32_t spans_max,
                                   uint32_t fragments, uint64_t average_begin,
                                   uint32_t fragment) {
  const auto cut =
      planner::CutFragments(element_count, fragments, spans_max, average_begin);
  SKERRY_CHECK(cut.ok() && fragment < cut->size());
  std::vector<uint64_t> sizes;
  for (const planner::SpanRange& span : (*cut)[fragment]) {
    sizes.push_back(span.size());
  }
  return sizes;
}

std::vector<std::pair<uint32_t, uint32_t>> SplitSpans(uint32_t span_count,
                                                      uint32_t workers) {
  const auto holders = planner::SplitSpans(span_count, workers);
  SKERRY_CHECK(holders.ok());
  std::vector<std::pair<uint32_t, uint32_t>> parts;
  for (const planner::SpanRun& run : holders->runs) {
    parts.emplace_back(run.begin, run.end);
  }
  return parts;
}

std::vector<uint32_t> EqualOwners(uint32_t span_count, uint32_t members,
                                  uint32_t rotation) {
  std::vector<uint32_t> owners(span_count);
  for (uint32_t span = 0; span < span_count; ++span) {
    owners[span] = (span + rotation) % members;
  }
  return owners;
}

}  // namespace skerry::coordinator
