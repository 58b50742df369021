// simulator/forecast.h
//
// Forecasts how a job would run on a cluster that is described by numbers. The
// real coordinator and the real seats of its workers run the job in simulated
// time, with frames of the real size and trainers that take the given time for
// each sample. The same problem gives the same forecast.
//
// If a span of the model has more than two alignments, a model with as many
// spans and fewer elements takes its place (stand_in.h). Links are then slower
// by the same factor, frames are smaller by it, and each codec takes the time
// that a span of the real size takes.
#ifndef SKERRY_SIMULATOR_FORECAST_H_
#define SKERRY_SIMULATOR_FORECAST_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "job/job_spec.h"
#include "simulator/absences.h"
#include "simulator/cluster_shape.h"

namespace skerry::sim {

struct ForecastProblem {
  // A reviewed spec, which has every default filled in.
  job::JobSpec spec;
  // Number of elements in the whole model.
  uint64_t elements = 0;
  ClusterShape cluster;
  // Absences of workers, which are numbered in the order of the islands.
  std::vector<Absence> absences;
  // Most rounds for each worker; a job with more samples is cut to that many
  // rounds. 0 is no limit.
  uint64_t rounds_max = 0;
  uint64_t seed = 0;
};

struct Forecast {
  // Training rate between the first commit and the last.
  double samples_per_s = 0;
  // Time between the first commit and the last.
  absl::Duration measured;
  // Mean share of the workers whose machines are there in that time.
  double live_share = 1;
  // Share of the trainers' time that they stall: stall / (stall + compute).
  double stall_share = 0;
  uint64_t samples = 0;
  uint64_t commits = 0;
  uint64_t lives = 0;
  // Mean number of replicas whose contributions are in a commit.
  double members_mean = 0;
  // Time from the job's submission to its end.
  absl::Duration total;
  // Bytes that each island sent to other islands, in the order of the islands.
  std::vector<double> bytes_sent;
};

// Errors: InvalidArgument if the cluster has no workers, or fewer than the job
// waits for, or lacks an island that the job names, or if the spec names a
// codec that does not exist. FailedPrecondition says why the job does not
// succeed.
absl::StatusOr<Forecast> MakeForecast(const ForecastProblem& problem);

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_FORECAST_H_
