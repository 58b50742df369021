#include "worker/core/live.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace skerry::worker {

Values LiveBook::StartOf(uint32_t span, const SpanState& anchor) const {
  const auto it = spans_.find(span);
  return it != spans_.end() && it->second.start ? it->second.start
                                                : anchor.values;
}

absl::AnyInvocable<Values()> LiveBook::Merge(
    const optimizer::OuterOptions& options, int delay, uint32_t span,
    const SpanState& anchor, const ElementRange& range,
    const TrainerMemory& memory, bool at_anchor) const {
  const bool keeps = KeepsLive(options);
  const auto it = spans_.find(span);
  Span old;
  if (it != spans_.end()) old = it->second;
  const bool merges = keeps && !at_anchor && old.live && old.start;
  return [options, delay, anchor, range, memory, old = std::move(old), keeps,
          merges]() -> Values {
    const std::span<float> out =
        memory.values.subspan(range.begin, range.size());
    const std::span<const float> values = anchor.Anchor(range.size());
    if (merges) {
      std::copy(old.live->begin(), old.live->end(), out.begin());
      const std::span<const float> start =
          optimizer::NeedsRoundStart(options)
              ? std::span<const float>(*old.start).first(range.size())
              : std::span<const float>();
      optimizer::MergeLive(options, delay, values, start, out);
    } else {
      std::copy(values.begin(), values.end(), out.begin());
    }
    if (!keeps) return nullptr;
    return std::make_shared<const std::vector<float>>(out.begin(), out.end());
  };
}

void LiveBook::Started(uint32_t span, Values start) {
  spans_[span] = {std::move(start), nullptr};
}

}  // namespace skerry::worker
