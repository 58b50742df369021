// worker/core/layout.h
//
// The elements of the flat model state that belong to each span.
#ifndef SKERRY_WORKER_CORE_LAYOUT_H_
#define SKERRY_WORKER_CORE_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "worker/core/effects.h"

namespace skerry::worker {

// Ranges touch, ascend and cover the model.
struct Layout {
  std::vector<ElementRange> spans;

  uint32_t size() const { return static_cast<uint32_t>(spans.size()); }
  uint64_t elements(uint32_t span) const { return spans[span].size(); }
  // The elements of spans [begin, end). Requires: begin < end <= size().
  ElementRange Of(uint32_t begin, uint32_t end) const {
    return {spans[begin].begin, spans[end - 1].end};
  }
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_LAYOUT_H_
