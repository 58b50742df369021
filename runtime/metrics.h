// runtime/metrics.h
//
// Holds a daemon's metrics as values, which the admin server publishes. Names
// end in the unit, and those of counters in `_total`
// (`skerry_job_stall_seconds_total`). docs/metrics.md lists them all.
#ifndef SKERRY_RUNTIME_METRICS_H_
#define SKERRY_RUNTIME_METRICS_H_

#include <string>
#include <utility>
#include <vector>

namespace skerry::runtime {

struct Sample {
  // Name and value of each label.
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

// Samples of one name, each with other labels.
struct Metric {
  enum class Kind {
    // Only rises while the process lives.
    kCounter,
    kGauge,
  };
  std::string name;
  std::string help;
  Kind kind = Kind::kGauge;
  std::vector<Sample> samples;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_METRICS_H_
