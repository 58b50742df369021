// tests/sim/moments.h
//
// Finds the moments in the journal's records at which a fault may strike a
// process.
#ifndef SKERRY_TESTS_SIM_MOMENTS_H_
#define SKERRY_TESTS_SIM_MOMENTS_H_

#include <cstdint>
#include <map>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "coordinator/core/log/records.h"
#include "tests/sim/schedule.h"

namespace skerry::sim {

class Moments {
 public:
  // Returns the moments of `entry`. Every record has to be given once, in the
  // journal's order.
  absl::InlinedVector<Moment, 2> Of(const coordinator::Entry& entry);

 private:
  // Returns whether the commit is the job's last.
  bool Take(const coordinator::Committed& commit);

  struct Job {
    uint64_t samples = 0;
    uint64_t fragments = 1;
    // Committed samples, as the sum over all fragments.
    uint64_t taken = 0;
  };
  std::map<JobId, Job> jobs_;
  std::map<Attempt, uint64_t> attempts_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_MOMENTS_H_
