// worker/core/live.h
//
// Keeps the trainer's live values from the start and the end of a round, as far
// as the merge rule needs them, and computes the live values that follow
// (optimizer/outer).
#ifndef SKERRY_WORKER_CORE_LIVE_H_
#define SKERRY_WORKER_CORE_LIVE_H_

#include <cstdint>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "worker/core/effects.h"
#include "worker/core/fold.h"
#include "worker/core/shared_bytes.h"

namespace skerry::worker {

class LiveBook {
 public:
  // Forgets everything, so the next round starts at the anchor.
  void Reset() { spans_.clear(); }

  // What the round of `span` started from: the first elements of a buffer.
  Values StartOf(uint32_t span, const SpanState& anchor) const;

  // Whether the end of a round has to be kept until the merge.
  static bool KeepsLive(const optimizer::OuterOptions& options) {
    return options.merge != optimizer::MergeRule::kReplace;
  }
  void Keep(uint32_t span, Values live) { spans_[span].live = std::move(live); }

  // Returns work that writes the next round's start of `span` into `memory` and
  // returns it; null when the rule needs no copy. `delay` is that of the round
  // that ended. With `at_anchor` the round starts at the anchor, whatever the
  // rule. Give the result to Started().
  absl::AnyInvocable<Values()> Merge(const optimizer::OuterOptions& options,
                                     int delay, uint32_t span,
                                     const SpanState& anchor,
                                     const ElementRange& range,
                                     const TrainerMemory& memory,
                                     bool at_anchor) const;
  void Started(uint32_t span, Values start);

 private:
  struct Span {
    Values start;
    Values live;
  };
  absl::btree_map<uint32_t, Span> spans_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_LIVE_H_
