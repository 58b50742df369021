#include "worker/core/apply_points.h"

#include <algorithm>

namespace skerry::worker {
namespace {

// The share of a round's time that stops inside it may take.
constexpr double kTimeShare = 0.01;
constexpr double kNewest = 0.25;

}  // namespace

void RoundRuns::Begin(data::RangeSet samples, uint32_t runs) {
  rest_ = std::move(samples);
  Recut(runs);
}

data::RangeSet RoundRuns::Take(uint64_t batch) {
  const uint64_t steps = (rest_.total() + batch - 1) / batch;
  if (left_ == 1 || steps == 1) return rest_.TakeFirst(rest_.total());
  const uint64_t taken = std::max<uint64_t>(steps / left_, 1);
  --left_;
  return rest_.TakeFirst(taken * batch);
}

void StopTimes::Mean::Add(absl::Duration one) {
  const double seconds = absl::ToDoubleSeconds(one);
  value = value.has_value() ? *value + kNewest * (seconds - *value) : seconds;
}

void StopTimes::OnRunBegins(Instant now) {
  run_ = now;
  if (stopped_) stop_s_.Add(now - *stopped_);
  stopped_.reset();
}

void StopTimes::OnRunEnds(Instant now, const RunReport& report) {
  if (report.inner_steps == 0) return;
  const absl::Duration took = now - run_;
  step_s_.Add(took / static_cast<double>(report.inner_steps));
  run_s_.Add(took - std::min(took, absl::Seconds(report.compute_s)));
}

uint64_t StopTimes::AffordablePoints(uint64_t steps) const {
  const double round_s = step_s_.value.value_or(0) * static_cast<double>(steps);
  const double apply_s =
      snapshot_s_.value.value_or(0) + merge_s_.value.value_or(0);
  const double left_s = kTimeShare * round_s - apply_s;
  const double stop_s = run_s_.value.value_or(0) + stop_s_.value.value_or(0);
  if (left_s <= stop_s) return 1;
  const uint64_t most = std::max<uint64_t>(steps, 1);
  if (!stop_s_.value.has_value()) return std::min<uint64_t>(most, 2);
  // A stop may be too short to be measured.
  const double points = 1 + left_s / std::max(stop_s, 1e-9);
  return points >= static_cast<double>(most) ? most
                                             : static_cast<uint64_t>(points);
}

}  // namespace skerry::worker
