// tests/sim/moments.h
//
// Tells of the journal's records which moments they are, at which a process
// may be struck.
#ifndef SKERRY_TESTS_SIM_MOMENTS_H_
#define SKERRY_TESTS_SIM_MOMENTS_H_

#include <cstdint>
#include <map>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "coordinator/core/records.h"
#include "tests/sim/schedule.h"

namespace skerry::sim {

class Moments {
 public:
  // Every record is asked about once, in the journal's order.
  absl::InlinedVector<Moment, 2> Of(const coordinator::Entry& entry);

 private:
  // Whether it is the job's last.
  bool Take(const coordinator::Committed& commit);

  struct Job {
    uint64_t samples = 0;
    uint64_t fragments = 1;
    // Of all fragments together.
    uint64_t taken = 0;
  };
  std::map<JobId, Job> jobs_;
  std::map<Attempt, uint64_t> attempts_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_MOMENTS_H_
