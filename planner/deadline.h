// planner/deadline.h
//
// How long an exchange attempt may take before its members are asked who is
// missing, learned from how long exchanges took compared with what the links
// promised.
//
// Pure: durations in, durations out. One estimator serves one fragment's group,
// or a whole job where groups are alike.
#ifndef SKERRY_PLANNER_DEADLINE_H_
#define SKERRY_PLANNER_DEADLINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace skerry::planner {

// What the links promise one member: `bytes` each way at `bytes_per_s`, after
// two one-way delays. Requires: bytes_per_s > 0.
absl::Duration PredictExchange(double bytes, double bytes_per_s,
                               absl::Duration one_way_delay);

struct DeadlineOptions {
  // The deadline is floor + margin * (this quantile of observed slowdowns) *
  // prediction.
  double quantile = 0.95;
  double margin = 2.0;
  // Covers what no link rate predicts: scheduling, disk, a slow encode.
  absl::Duration floor = absl::Milliseconds(250);
  // Assumed slowdown until `observations_min` exchanges were seen.
  double slowdown_before_learning = 4.0;
  size_t observations_min = 5;
  // Older observations are forgotten.
  size_t window = 128;
  // No deadline is longer than the lease, which ends a silent life anyway.
  absl::Duration lease = absl::Seconds(10);
};

// Errors: InvalidArgument.
absl::Status ValidateDeadlineOptions(const DeadlineOptions& options);

struct Deadline {
  absl::Duration duration;
  std::string reason;
};

class DeadlineEstimator {
 public:
  // Requires: ValidateDeadlineOptions(options) is OK.
  explicit DeadlineEstimator(const DeadlineOptions& options);

  // A committed exchange that took `actual` where `predicted` was promised.
  // Failed attempts are not observed: they would teach patience with the dead.
  // A prediction of zero teaches nothing.
  void Observe(absl::Duration predicted, absl::Duration actual);

  // The deadline of try `retry` (from 0) of one sequence: doubled per retry, at
  // most a lease.
  Deadline Estimate(absl::Duration predicted, int retry) const;

 private:
  // The learned quantile of actual / predicted.
  double Slowdown() const;

  const DeadlineOptions options_;
  // A ring of the newest slowdowns.
  std::vector<double> slowdowns_;
  size_t next_ = 0;
};

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_DEADLINE_H_
