// tests/sim/check/averages.h
//
// Checks what is averaged (PROTOCOL 4.5). A contribution is the trainer's
// values at the end of its round, times their weight. The anchor that a commit
// makes lies between the values of its members, at their weighted mean,
// whatever the job's outer method and codec are.
#ifndef SKERRY_TESTS_SIM_CHECK_AVERAGES_H_
#define SKERRY_TESTS_SIM_CHECK_AVERAGES_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "planner/spans.h"
#include "simulator/observer.h"
#include "tests/sim/check/violations.h"

namespace skerry::sim {

class AverageChecker final : public Observer {
 public:
  // `out` outlives the checker.
  explicit AverageChecker(Violations& out) : out_(out) {}

  void OnDurable(const coordinator::Entry& entry) override;
  // Numbers may be given again, so it says nothing from now on.
  void OnJournalReplaced(Revision last) override { silent_ = true; }
  void OnLive(const LiveSight& sight) override;
  void OnSeat(const SeatSight& sight) override;

 private:
  struct Job {
    uint32_t fragments = 1;
    uint32_t spans_max = 1;
    // The spans of the last fragment; the averaged ones begin with `first`.
    // Empty when nothing is averaged.
    std::vector<planner::SpanRange> spans;
    uint32_t first = 0;
  };
  // What a life has offered of a span in a round: weighted, and negative.
  struct Offer {
    worker::Values owed;
    double weight = 0;
  };

  void Size(const coordinator::JobSized& sized);
  void TakeOffer(const FragmentSight& sight, const Job& job);
  void CheckAnchor(const FragmentSight& sight, const Job& job);
  void CheckSpan(const FragmentSight& sight, uint32_t span,
                 const coordinator::Opened& open);

  Violations& out_;
  bool silent_ = false;
  std::map<JobId, Job> jobs_;
  std::map<Attempt, coordinator::Opened> attempts_;
  // By job and sequence, of the last fragment.
  std::map<std::pair<JobId, Sequence>, Attempt> commits_;
  // By run and job.
  std::map<std::tuple<HostId, uint64_t, JobId>, std::vector<float>> live_;
  // By job, life, round and span.
  std::map<std::tuple<JobId, Life, Round, uint32_t>, Offer> offers_;
  // Those that were looked at, by job, sequence and span, with their values.
  std::map<std::tuple<JobId, Sequence, uint32_t>, worker::Values> seen_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_CHECK_AVERAGES_H_
