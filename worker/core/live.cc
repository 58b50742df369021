#include "worker/core/live.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace skerry::worker {
namespace {

// Values on which one pass follows another before the next ones: they stay in
// the caches, and a span does not.
constexpr size_t kBlock = 4096;

}  // namespace

Values LiveBook::StartOf(uint32_t span, const SpanState& anchor) const {
  const auto it = spans_.find(span);
  return it != spans_.end() && it->second.start ? it->second.start
                                                : anchor.values;
}

absl::AnyInvocable<Values()> LiveBook::Merge(
    const optimizer::OuterOptions& options, const LiveChange& change,
    uint32_t span, const SpanState& anchor, const ElementRange& range,
    const TrainerMemory& memory) const {
  using At = LiveChange::At;
  const bool averaged = change.rule == SpanRule::kAverage;
  const bool keeps = KeepsLive(options, change.rule);
  const auto it = spans_.find(span);
  Span old;
  if (it != spans_.end()) old = it->second;
  const bool merges = keeps && change.at == At::kBoundary && old.live;
  const bool moves = keeps && !merges && change.at != At::kAnchor && old.start;
  if (averaged && change.at == At::kApplyPoint) {
    return []() -> Values { return nullptr; };
  }
  return [options, change, anchor, range, memory, old = std::move(old), keeps,
          merges, moves]() -> Values {
    const std::span<float> out =
        memory.values.subspan(range.begin, range.size());
    const std::span<const float> values = anchor.Anchor(range.size());
    if (merges) {
      std::vector<float> merged;
      merged.reserve(range.size());
      for (size_t at = 0; at < out.size(); at += kBlock) {
        const std::span<float> block =
            out.subspan(at, std::min(kBlock, out.size() - at));
        std::copy_n(old.live->data() + at, block.size(), block.begin());
        optimizer::MergeLive(options, change.back ? 0 : 1, change.share,
                             values.subspan(at, block.size()),
                             std::span(*old.start).subspan(at, block.size()),
                             block);
        merged.insert(merged.end(), block.begin(), block.end());
      }
      return std::make_shared<const std::vector<float>>(std::move(merged));
    } else if (moves) {
      std::vector<float> base(
          old.start->begin(),
          old.start->begin() + static_cast<ptrdiff_t>(range.size()));
      if (change.at == At::kBoundary) {
        std::copy(base.begin(), base.end(), out.begin());
      }
      optimizer::MoveLive(
          options, change.back,
          std::span<const float>(*old.anchor).first(range.size()), values, base,
          out);
      return std::make_shared<const std::vector<float>>(std::move(base));
    } else {
      std::copy(values.begin(), values.end(), out.begin());
    }
    if (!keeps) return nullptr;
    return std::make_shared<const std::vector<float>>(out.begin(), out.end());
  };
}

void LiveBook::Started(uint32_t span, const SpanState& anchor, Values start) {
  const Values before = start ? anchor.values : nullptr;
  spans_[span] = {std::move(start), nullptr, before};
}

}  // namespace skerry::worker
