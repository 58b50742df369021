// optimizer/outer/outer.h
//
// What a committed mean pseudo-gradient does to the anchor, and what the new
// anchor does to the live parameters. CO2, DiLoCo, Local SGD, DaSGD and
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

// Sets `live` from the folded anchor. `delay` is DelayAt of the round that
// ends: with 0 the anchor already holds this round's local delta, so
// kAveragePlusLocalDelta becomes kReplace. `round_start` is what `live` was
// when that round began; it is empty when !NeedsRoundStart(options). The caller
// copies the new `live` into `round_start` for the next round.
//
// Under kReplace a round starts at the anchor, so a contribution is
// anchor - live. Under the other rules it is round_start - live: the part of
// `live` that earlier contributions have already sent must not be sent again.
void MergeLive(const OuterOptions& options, int delay,
               std::span<const float> anchor,
               std::span<const float> round_start, std::span<float> live);

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_OUTER_OUTER_H_
