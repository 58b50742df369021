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
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace skerry::optimizer {

// How live parameters continue after the anchor has moved.
enum class MergeRule {
  kReplace,                // live = anchor
  kAveragePlusLocalDelta,  // live = anchor + (live - round_start)
  kConvexMix,              // live = mix * live + (1 - mix) * anchor (DaSGD)
};

// How a one-round-old pseudo-gradient is scaled down: it is divided by L.
enum class StalenessPenalty {
  kOff,       // L = 1
  kConstant,  // L = penalty
  kDistance,  // L = StalenessGap(...), measured every round
};

struct OuterOptions {
  // The preset these options started from; for messages only.
  std::string method = "local_sgd";
  double learning_rate = 1.0;  // a
  double momentum = 0.0;       // b
  bool nesterov = false;
  StalenessPenalty penalty_rule = StalenessPenalty::kOff;
  double penalty = 1.0;  // read by kConstant
  // Bound on each element of the momentum buffer after accumulation.
  std::optional<double> clip;
  // Rounds between a contribution and its application: 0 or 1.
  int delay_rounds = 0;
  MergeRule merge = MergeRule::kReplace;
  double mix = 0.0;  // xi: the weight that kConvexMix leaves on live
  // The share of a job's rounds, from the first, that run without delay, with
  // `undelayed_learning_rate`. Read only when delay_rounds is 1.
  double undelayed_rounds_fraction = 0.1;
  double undelayed_learning_rate = 1.0;

  friend bool operator==(const OuterOptions&, const OuterOptions&) = default;
};

// "local_sgd", "diloco", "co2", "dasgd" or "average_plus_local_delta".
//
// Errors: InvalidArgument, listing the names.
absl::StatusOr<OuterOptions> OuterPreset(std::string_view name);

// What the outer loop has to know of the codec on the links.
struct CodecTraits {
  bool sparse = false;
  bool error_feedback = false;
};

struct OuterReview {
  // Left side of the stability law at full contraction, |z|^2 of the slowest
  // mode: the loop is stable below 1 and damped well up to 0.5. 0 where no
  // delay makes the law apply.
  double delayed_gain = 0.0;
  std::vector<std::string> warnings;
};

// Errors: InvalidArgument when a number is out of its domain, when the delayed
// recursion is unstable, when a merge rule is combined with settings for which
// it has no meaning, or when outer Nesterov momentum meets a sparse codec with
// error feedback. The message says which bound and what to change.
absl::StatusOr<OuterReview> ValidateOuter(const OuterOptions& options,
                                          const CodecTraits& codec = {});

// The delay that round `round` (from 0) of `rounds_total` runs with.
int DelayAt(const OuterOptions& options, uint64_t round, uint64_t rounds_total);

// What the outer step reads beside anchor, momentum and result. Computed once,
// by the coordinator, and carried by the Commit record.
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

// Folds one committed result, in this order, per element:
//   d = mean_delta / L;  m = clip(b * m + d);
//   anchor -= a * (nesterov ? d + b * m : m).
// `momentum` has the anchor's size, or is empty when !HasMomentum(options).
// Requires: ValidateOuter(options) is OK and the spans agree in size.
void OuterStep(const OuterOptions& options, const OuterScalars& scalars,
               std::span<const float> mean_delta, std::span<float> anchor,
               std::span<float> momentum);

// Sets `live` from the folded anchor. `round_start` is what `live` was when the
// ending round began; it is empty when !NeedsRoundStart(options). The caller
// copies the new `live` into `round_start` for the next round.
//
// Under kReplace a round starts at the anchor, so a contribution is
// anchor - live. Under the other rules it is round_start - live: the part of
// `live` that earlier contributions have already sent must not be sent again.
void MergeLive(const OuterOptions& options, std::span<const float> anchor,
               std::span<const float> round_start, std::span<float> live);

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_OUTER_OUTER_H_
