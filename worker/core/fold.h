// worker/core/fold.h
//
// Folds a committed result into a span: the state at n - 1 becomes the state at
// n, with the same bits on every worker.
#ifndef SKERRY_WORKER_CORE_FOLD_H_
#define SKERRY_WORKER_CORE_FOLD_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "protocol/exchange.h"
#include "worker/core/job_settings.h"
#include "worker/core/layout.h"
#include "worker/core/values.h"

namespace skerry::worker {

using protocol::CommittedEntry;

// Everything the outer step reads of one span: the anchor's elements, then as
// many of outer momentum if the method has one. Its bytes are the base piece,
// and their Hash64 is the span's anchor hash.
struct SpanState {
  Sequence applied;
  Values values;
  uint64_t hash = 0;
  // The attempt whose commit made it; unset as in HeldBase.
  Attempt attempt = {};
  // The hash of the initial values that it was made of (StoredFile); 0 for all
  // other states.
  uint64_t initial_hash = 0;

  std::span<const float> Anchor(uint64_t elements) const {
    return std::span<const float>(*values).first(elements);
  }
};

// How many values a span of `elements` has.
uint64_t StateSize(const optimizer::OuterOptions& options, uint64_t elements);

// State 0 from initial values, and from the momentum that goes with them: as
// many values, or none, when it begins at zero. A method without momentum
// ignores it.
SpanState InitialState(const optimizer::OuterOptions& options,
                       std::span<const float> initial,
                       std::span<const float> momentum = {});

// A base piece as it came from a disk or a peer.
//
// Errors: DataLoss when size or hash differ, or a value is not finite.
absl::StatusOr<SpanState> ReadBase(const optimizer::OuterOptions& options,
                                   uint64_t elements, Sequence sequence,
                                   uint64_t hash,
                                   std::span<const std::byte> piece);

// The state at `entry.sequence`. An average takes the place of the anchor and
// leaves momentum as it is. Requires: `state` is of the sequence before.
//
// Errors: DataLoss when `piece` does not have `hash` or does not decode.
absl::StatusOr<SpanState> FoldResult(const JobSettings& settings,
                                     const SpanState& state, uint64_t elements,
                                     const CommittedEntry& entry, uint64_t hash,
                                     std::span<const std::byte> piece,
                                     SpanRule rule = SpanRule::kStep);

// Every so many sequences all workers store a base: the same number for all,
// such that the results in between are no larger than a base, and at most 64.
uint64_t BaseInterval(const JobSettings& settings);
// Whether the state at `entry.sequence` is stored as a base, whatever comes
// after it.
bool IsBaseSequence(const JobSettings& settings, const CommittedEntry& entry);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_FOLD_H_
