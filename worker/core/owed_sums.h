// worker/core/owed_sums.h
//
// Computes `owed`: what a replica has produced, times its weight, that the
// model has not received (PROTOCOL 4.2.3, 4.3, 4.4). One rule covers error
// feedback at the sender and at the owner, retry, carrying, and a change of
// owners or codec:
//
//   sum of w * delta = sum over commits of W * decoded + sum of owed + lost,
//
// per element, to fp32 rounding. Nothing here knows of attempts; the caller
// decides when a function may be called.
//
// All spans of one call have one size.
#ifndef SKERRY_WORKER_CORE_OWED_SUMS_H_
#define SKERRY_WORKER_CORE_OWED_SUMS_H_

#include <span>

namespace skerry::worker {

// What was discarded, in weighted units (worker/core/sums.h).
struct LostMass {
  double sum = 0.0;           // signed: the term of the conservation law
  double squared_norm = 0.0;  // for reports

  LostMass& operator+=(const LostMass& other) {
    sum += other.sum;
    squared_norm += other.squared_norm;
    return *this;
  }
};

// At the boundary: owed += weight * (start - live), where `start` is what live
// was when the round began (the anchor, under a replacing merge) and `weight`
// the samples of the round.
void AccumulateOwed(float weight, std::span<const float> start,
                    std::span<const float> live, std::span<float> owed);

// The owner's own term of a sum: uncoded, at its place in member order. Terms
// of others come by Codec::DecodeAdd.
void AddOwed(std::span<const float> owed, std::span<float> sum);

// mean = sum / total_weight, which the owner encodes. `mean` may be `sum`'s own
// memory only when the error is not needed.
void MeanOfSum(std::span<const float> sum, float total_weight,
               std::span<float> mean);

// The owner's slice of error: error = sum - total_weight * decoded, where
// `decoded` is what everyone decodes from the bytes of the result. `error` may
// be `sum`.
void OwnerError(std::span<const float> sum, float total_weight,
                std::span<const float> decoded, std::span<float> error);

// At a commit, for a span that another replica owned: owed -= sent. `sent` is
// decoded from the very bytes of the committed attempt. In an exchange of one
// hop every member sums what it decodes, its own bytes too, so it settles every
// span this way and no span has an owner's error.
void SettleSent(std::span<const float> sent, std::span<float> owed);

// Commit, a span that this replica owned: all of owed went into the sum, and
// the error of the result stays here. owed = error.
void SettleOwned(std::span<const float> error, std::span<float> owed);

// After the two functions above, at a commit: owed *= beta. Returns what that
// discards. beta is in [0, 1]: 1 keeps everything, 0 is no error feedback.
LostMass DecayOwed(float beta, std::span<float> owed);

// Drop, or the end of a life: owed = 0.
LostMass DropOwed(std::span<float> owed);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_OWED_SUMS_H_
