// optimizer/inner/schedule.h
//
// The learning rate as a pure function of progress. Progress is counted in
// samples of the whole job. So replicas of different speed, and a run that was
// restarted, read the same curve.
#ifndef SKERRY_OPTIMIZER_INNER_SCHEDULE_H_
#define SKERRY_OPTIMIZER_INNER_SCHEDULE_H_

#include <cstdint>

#include "absl/status/status.h"

namespace skerry::optimizer {

// What follows the linear warm-up; x is the share of the rest that is done.
enum class Curve {
  // floor + (peak - floor) (1 + cos(pi x)) / 2.
  kCosine,
  // From peak to floor in a straight line.
  kLinear,
  // Warm-up, stable, decay: peak until the last decay_ratio of the run, then in
  // a straight line to the floor.
  kWsd,
  // peak sqrt(warmup_samples / samples_done), no less than the floor, with a
  // warm-up of at least one sample. Does not depend on the length of the run.
  kInverseSqrt,
  // peak.
  kConstant,
};

struct ScheduleOptions {
  Curve curve = Curve::kCosine;
  float peak = 3e-4f;
  uint64_t warmup_samples = 0;
  // The floor as a share of peak; kept after the end. Not kConstant's.
  float min_ratio = 0.1f;
  // kWsd: share of all samples.
  double decay_ratio = 0.2;
};
absl::Status ValidateScheduleOptions(const ScheduleOptions& options);

// Linear from 0 to `peak` over the warm-up, then along the curve until
// `samples_total`. `samples_done` counts the batch whose step is about to be
// taken, so that the first step is not a null one. A run shorter than its
// warm-up ends in it.
float LearningRate(const ScheduleOptions& options, uint64_t samples_done,
                   uint64_t samples_total);

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_SCHEDULE_H_
