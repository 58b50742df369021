// optimizer/outer/outer.h
//
// What a committed mean pseudo-gradient does to the anchor, and what the new
// anchor does to the live parameters. CO2, DiLoCo, Local SGD, DaSGD, late and
// average-plus-local-delta are settings of one loop; docs/outer_loop.md has the
// recursions and says which formulas are ours.
//
// Every function is pure and works on flat spans. The fold of a result gives
// the same bits on any hardware: fp32, elements independent, no contraction,
// and no number that is not an argument.
#ifndef SKERRY_OPTIMIZER_OUTER_OUTER_H_
#define SKERRY_OPTIMIZER_OUTER_OUTER_H_

#include <cstdint>
#include <span>

#include "optimizer/outer/outer_options.h"

namespace skerry::optimizer {

// The delay that round `round` (from 0) of `rounds_total` runs with.
int DelayAt(const OuterOptions& options, uint64_t round, uint64_t rounds_total);

// The scalars that the outer step reads beside anchor, momentum and result. The
// coordinator computes them once, and the Commit record carries them.
struct OuterScalars {
  float learning_rate = 1.0f;
  float penalty = 1.0f;  // L

  friend bool operator==(const OuterScalars&, const OuterScalars&) = default;
};

// `gap` is StalenessGap(...) where the rule is kDistance, and is not read
// otherwise. Undelayed rounds have no penalty.
OuterScalars ScalarsAt(const OuterOptions& options, uint64_t round,
                       uint64_t rounds_total, double gap = 1.0);

// 1 + ||anchor moved|| / (tau * ||first inner step||), from squared norms taken
// over the whole model; at least 1. `tau` > 0. A first step of length 0 gives
// 1: nothing is known about the gap then.
double StalenessGap(double anchor_moved_squared, double first_step_squared,
                    int tau);

// Whether OuterStep reads a momentum buffer under these options.
bool HasMomentum(const OuterOptions& options);
// Whether MergeLive reads what live was at the start of the round.
bool NeedsRoundStart(const OuterOptions& options);

// Host memory of the outer state, in bytes a parameter held.
struct OuterStateBytes {
  double anchor = 4.0;
  double momentum = 0.0;
  double round_start = 0.0;
};
OuterStateBytes OuterStateBytesOf(const OuterOptions& options);

// Folds one committed result, in this order, per element:
//   d = mean_delta / L;  m = clip(b * m + d);
//   anchor -= a * (nesterov ? d + b * m : m).
// `momentum` has the anchor's size, or is empty when !HasMomentum(options).
// Requires: ValidateOuter(options) is OK and the spans agree in size.
void OuterStep(const OuterOptions& options, const OuterScalars& scalars,
               std::span<const float> mean_delta, std::span<float> anchor,
               std::span<float> momentum);

// How much of its own pseudo-gradient a replica should expect of the mean that
// it is part of: the `share` for which the sum over all members i of
// w_i ||D - share d_i||^2 is least. D is the mean sum(w_i d_i) / W, and W is
// sum(w_i), so it is W ||D||^2 / sum(w_i ||d_i||^2): 1 when all members agree,
// and 1 / M when M members of equal weight are at right angles.
//
// `mean_squared` is ||D||^2 over the whole model, `total_weight` is W, and
// `weighted_squared` is sum(w_i ||d_i||^2). The share is at least kOwnShareMin
// and at most 1; it is 1 where a norm is 0 or not finite, since then nothing is
// known.
double OwnShare(double mean_squared, double total_weight,
                double weighted_squared);

// Sets `live` from the folded anchor. With a `delay` of 0 the anchor already
// holds the local delta of the round that ends, so every rule is kReplace then.
// `share` is options.own_share, or what OwnShare() gave for the newest result
// that the anchor holds; only kOwnShare reads it. `round_start` is what `live`
// was when that round began; it is empty when !NeedsRoundStart(options). The
// caller copies the new `live` into `round_start` for the next round.
//
// Under kReplace a round starts at the anchor, so a contribution is
// anchor - live. Under the other rules it is round_start - live: the part of
// `live` that earlier contributions have already sent must not be sent again.
void MergeLive(const OuterOptions& options, int delay, float share,
               std::span<const float> anchor,
               std::span<const float> round_start, std::span<float> live);

// Applies results between the boundaries of a round. `base` is what the round's
// progress, live - base, grows from: MergeLive()'s `live` at the boundary
// before, or what this function made of it since. The anchor went from `before`
// to `anchor`. Sets, element by element,
//   new = back ? anchor : base + taken (anchor - before);
//   live = new + (live - base);  base = new,
// where `taken` is 1 - xi under kConvexMix, which took so much of the anchor at
// the boundary, and else 1.
// `back` says that no contribution of the replica is on its way any more, so
// that the anchor holds all that the replica has delivered, and none of its own
// share stays in `base`. Otherwise that share stays. Without progress and with
// `back`, `live` becomes the anchor, bit for bit. All spans have one size.
void MoveLive(const OuterOptions& options, bool back,
              std::span<const float> before, std::span<const float> anchor,
              std::span<float> base, std::span<float> live);

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_OUTER_OUTER_H_
