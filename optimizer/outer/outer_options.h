// optimizer/outer/outer_options.h
//
// The settings of the outer loop, the named methods, and which settings are
// refused before a job starts rather than after it has diverged.
#ifndef SKERRY_OPTIMIZER_OUTER_OUTER_OPTIONS_H_
#define SKERRY_OPTIMIZER_OUTER_OUTER_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace skerry::optimizer {

// How live parameters continue after the anchor has moved.
enum class MergeRule {
  kReplace,    // live = anchor
  kOwnShare,   // live = anchor + share * (live - round_start)
  kConvexMix,  // live = mix * live + (1 - mix) * anchor (DaSGD)
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
  // xi: the weight that kConvexMix leaves on live. It has one with kConvexMix
  // alone.
  std::optional<double> mix;
  // What kOwnShare keeps of a round whose result is still on its way: a number
  // in [0, 1], or empty to take what OwnShare() measured at the last commit.
  std::optional<double> own_share;
  // At how many points of a round a late result may be applied under kOwnShare,
  // 1 to kApplyPointsMax. 1 is the boundary alone. Empty: under kOwnShare as
  // many as cost little of the round's time.
  std::optional<uint32_t> apply_points;
  // The share of a job's rounds, from the first, that run without delay, with
  // `undelayed_learning_rate`. Read only when delay_rounds is 1.
  double undelayed_rounds_fraction = 0.1;
  double undelayed_learning_rate = 1.0;

  friend bool operator==(const OuterOptions&, const OuterOptions&) = default;
};

// "local_sgd", "diloco", "co2", "dasgd", "average_plus_local_delta" or "late".
//
// Errors: InvalidArgument, listing the names.
absl::StatusOr<OuterOptions> OuterPreset(std::string_view name);

// The least share that OwnShare() returns and that a job may name. With a share
// of 0 the loop would not settle at full contraction.
inline constexpr double kOwnShareMin = 0.05;
inline constexpr uint32_t kApplyPointsMax = 1000;
// With a mix of 0 every round would be discarded, and with 1 replicas would
// never come together.
inline constexpr double kMixMin = 0.05;
inline constexpr double kMixMax = 0.95;

struct OuterReview {
  // Left side of the stability law at full contraction, |z|^2 of the slowest
  // mode: the loop is stable below 1 and damped well up to 0.5. 0 where no
  // delay makes the law apply, and where the share is measured.
  double delayed_gain = 0.0;
  std::vector<std::string> warnings;
};

// Why one option alone is impossible: its name in OuterOptions, its bound and
// its value.
struct OuterRefusal {
  std::string field;
  std::string why;
};
// The first option that is out of its domain, whatever the others are.
std::optional<OuterRefusal> RefuseOuterOption(const OuterOptions& options);

// Errors: InvalidArgument when a number is out of its domain, when the delayed
// recursion is unstable, or when a merge rule is combined with settings for
// which it has no meaning. The message says which bound and what to change.
absl::StatusOr<OuterReview> ValidateOuter(const OuterOptions& options);

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_OUTER_OUTER_OPTIONS_H_
