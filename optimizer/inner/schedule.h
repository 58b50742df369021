// optimizer/inner/schedule.h
//
// The learning rate as a pure function of progress. Progress is counted in
// samples of the whole job, so replicas of different speed, and a run that was
// restarted, read the same curve.
#ifndef SKERRY_OPTIMIZER_INNER_SCHEDULE_H_
#define SKERRY_OPTIMIZER_INNER_SCHEDULE_H_

#include <cstdint>

#include "absl/status/status.h"

namespace skerry::optimizer {

struct ScheduleOptions {
  float peak = 3e-4f;
  uint64_t warmup_samples = 0;
  float min_ratio = 0.1f;  // of peak, reached at the end and kept after it
};
absl::Status ValidateScheduleOptions(const ScheduleOptions& options);

// Linear from 0 to `peak` over the warm-up, then half a cosine down to
// min_ratio * peak at `samples_total`. `samples_done` counts the batch whose
// step is about to be taken, so that the first step is not a null one. A run
// shorter than its warm-up ends in it.
float LearningRate(const ScheduleOptions& options, uint64_t samples_done,
                   uint64_t samples_total);

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_SCHEDULE_H_
