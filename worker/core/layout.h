// worker/core/layout.h
//
// Maps spans to elements of the flat model state, and says what a span's
// contributions and results are.
#ifndef SKERRY_WORKER_CORE_LAYOUT_H_
#define SKERRY_WORKER_CORE_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "worker/core/effects.h"

namespace skerry::worker {

// What is owed of a span, and what becomes of its mean (PROTOCOL 4.5).
enum class SpanRule {
  // A contribution is how far a replica has moved, and the outer step is
  // applied to the mean.
  kStep,
  // A contribution is the negative values themselves, and the anchor becomes
  // the negative mean.
  kAverage,
};

// Ranges touch, ascend and cover the model.
struct Layout {
  std::vector<ElementRange> spans;
  // The element of the model from which on spans are averaged; none without.
  std::optional<uint64_t> average_begin = std::nullopt;

  SpanRule rule(uint32_t span) const {
    return average_begin && spans[span].begin >= *average_begin
               ? SpanRule::kAverage
               : SpanRule::kStep;
  }
  uint32_t size() const { return static_cast<uint32_t>(spans.size()); }
  uint64_t elements(uint32_t span) const { return spans[span].size(); }
  // The elements of spans [begin, end). Requires: begin < end <= size().
  ElementRange Of(uint32_t begin, uint32_t end) const {
    return {spans[begin].begin, spans[end - 1].end};
  }
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_LAYOUT_H_
