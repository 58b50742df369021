// worker/core/round_metrics.h
//
// Adds up what a trainer measured in the runs of one round, of which there may
// be several.
#ifndef SKERRY_WORKER_CORE_ROUND_METRICS_H_
#define SKERRY_WORKER_CORE_ROUND_METRICS_H_

#include <cstdint>
#include <map>
#include <string>

#include "protocol/metrics.h"

namespace skerry::worker {

class RoundMetrics {
 public:
  // Takes the means over a run's samples. Names beyond protocol::kMetricsMax in
  // one round are left out.
  void Add(const protocol::Metrics& means, uint64_t samples);
  // Returns the means over the samples of all runs that measured the metric.
  protocol::Metrics Means() const;

 private:
  struct Sum {
    double value = 0;  // times samples
    double samples = 0;
  };
  std::map<std::string, Sum> sums_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_ROUND_METRICS_H_
