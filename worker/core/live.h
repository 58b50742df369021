// worker/core/live.h
//
// Keeps, for each span, the point from which the progress of a round is
// counted. If the merge rule needs them, it also keeps the trainer's live
// values at the end of the round. It computes the live values that follow
// (optimizer/outer).
#ifndef SKERRY_WORKER_CORE_LIVE_H_
#define SKERRY_WORKER_CORE_LIVE_H_

#include <cstdint>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "worker/core/effects.h"
#include "worker/core/fold.h"
#include "worker/core/layout.h"
#include "worker/core/values.h"

namespace skerry::worker {

// Why live values change.
struct LiveChange {
  enum class At {
    // The anchor is loaded, whatever the rule.
    kAnchor,
    // Between two rounds. Without a value from Keep() nothing was trained since
    // the last change.
    kBoundary,
    // Between two inner steps; the trainer's memory has the live values.
    kApplyPoint,
  };
  At at = At::kBoundary;
  // No contribution of the replica is on its way any more.
  bool back = false;
  // The share of the round that ended which the rule keeps while it is on its
  // way (optimizer::MergeLive); read only at a boundary.
  float share = 1;
  // The span's. One that is averaged becomes the anchor at a boundary, whatever
  // the merge rule, and stays as it is at an apply point.
  SpanRule rule = SpanRule::kStep;
};

class LiveBook {
 public:
  // Forgets everything, so the next round starts at the anchor.
  void Reset() { spans_.clear(); }

  // What the progress of `span` grows from: the first elements of a buffer.
  Values StartOf(uint32_t span, const SpanState& anchor) const;

  // Whether the end of a round has to be kept until the merge, of a span with
  // that rule.
  static bool KeepsLive(const optimizer::OuterOptions& options,
                        SpanRule rule = SpanRule::kStep) {
    return options.merge != optimizer::MergeRule::kReplace &&
           rule == SpanRule::kStep;
  }
  void Keep(uint32_t span, Values live) { spans_[span].live = std::move(live); }

  // Returns work that writes the live values of `span` that follow into
  // `memory`, and returns what progress grows from then; null when the rule
  // needs no copy. Give the result to Started(), with the same anchor.
  absl::AnyInvocable<Values()> Merge(const optimizer::OuterOptions& options,
                                     const LiveChange& change, uint32_t span,
                                     const SpanState& anchor,
                                     const ElementRange& range,
                                     const TrainerMemory& memory) const;
  void Started(uint32_t span, const SpanState& anchor, Values start);

 private:
  struct Span {
    Values start;
    Values live;
    // The anchor when `start` was made, where there is a start.
    Values anchor;
  };
  absl::btree_map<uint32_t, Span> spans_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_LIVE_H_
