// simulator/forecast.h
//
// What a job would come to on a cluster that is described by numbers: the real
// coordinator and the real seats of its workers run it in simulated time, with
// frames of the real size and trainers that take the time that they are said
// to. The same problem gives the same forecast.
//
// A model of more than two alignments a span is simulated by one with fewer
// elements and as many spans: links are slower by the same factor, frames are
// cut by it, and each codec is charged what a span of the real size takes.
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
  // Reviewed: with every default.
  job::JobSpec spec;
  // Of the whole model.
  uint64_t elements = 0;
  ClusterShape cluster;
  // In the order of the islands' workers.
  std::vector<Absence> absences;
  // Of every worker; a job with more is cut to so many.
  uint64_t rounds_max = 0;
  uint64_t seed = 0;
};

struct Forecast {
  // Between the first commit and the last.
  double samples_per_s = 0;
  absl::Duration measured;
  // Mean share of the workers whose machines are there.
  double live_share = 1;
  // Of the time in which trainers could have worked.
  double stall_share = 0;
  uint64_t samples = 0;
  uint64_t commits = 0;
  uint64_t lives = 0;
  // Of a commit: replicas whose contributions are in it.
  double members_mean = 0;
  absl::Duration total;
  // Between islands, by the one that sends.
  std::vector<double> bytes_sent;
};

// Errors: InvalidArgument for a cluster without workers or with fewer than the
// job waits for, and a spec that names a codec that is none; FailedPrecondition
// when the job does not end, and why.
absl::StatusOr<Forecast> MakeForecast(const ForecastProblem& problem);

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_FORECAST_H_
