// tests/sim/check/anchors.h
//
// Checks anchors and results (A1, A8; DESIGN 5: 1, 3). Anchors have the same
// bits in all workers at every sequence, and results the same bytes wherever
// they are stored. Nobody is ahead of the journal. The workers of a replica run
// a round at one cut. A life trains on a sample once. No worker sees a life or
// a sequence go back. A job that goes back to a checkpoint has its anchors, and
// one that goes back to its beginning has those, unless it then begins with the
// values of another trainer.
#ifndef SKERRY_TESTS_SIM_CHECK_ANCHORS_H_
#define SKERRY_TESTS_SIM_CHECK_ANCHORS_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "data/sample_ranges.h"
#include "simulator/observer.h"
#include "tests/sim/check/violations.h"

namespace skerry::sim {

class AnchorChecker final : public Observer {
 public:
  // `out` outlives the checker.
  explicit AnchorChecker(Violations& out) : out_(out) {}

  void OnDurable(const coordinator::Entry& entry) override;
  void OnJournalReplaced(Revision last) override;
  void OnOrdersSaid(HostId to, const protocol::Orders& orders) override;
  void OnSeat(const SeatSight& sight) override;

 private:
  // A fragment of a job.
  using Part = std::pair<JobId, uint32_t>;
  // What one run of a worker has shown of one.
  struct Seen {
    Sequence applied;
    std::pair<uint32_t, size_t> held;  // first span and how many
    Life life;
    uint64_t anchors = 0;  // combined
    Attempt stored;
    std::pair<Life, Round> ready;
  };
  struct Said {
    Revision revision;
    std::map<JobId, Epoch> epochs;
    std::map<Part, Sequence> newest;
  };

  void ForgetNumber(uint64_t number);
  void Fold(const coordinator::Entry& entry);
  void Take(const coordinator::JobSized& sized);
  void Take(const coordinator::Restored& restored);
  void Take(const coordinator::Adopted& adopted);
  void Note(JobId job);
  // The newest sequences are states without any sample.
  void BeginAnew(JobId job);
  static Part PartOf(const FragmentSight& sight) {
    return {sight.job().job, sight.index};
  }
  void OnFragment(const FragmentSight& sight);
  void CheckApplied(const FragmentSight& sight, Seen& seen);
  void CheckAnchors(const FragmentSight& sight);
  void CheckStored(const FragmentSight& sight);
  void CheckReady(const FragmentSight& sight);

  Violations& out_;
  // Those of which the below is the fold.
  std::vector<coordinator::Entry> entries_;
  // Jobs of which workers may have more than the journal, since an earlier one
  // was put in place.
  std::set<JobId> behind_;
  bool replaced_ = false;
  // The newest record, and the newest of all journals that were replaced.
  Revision last_;
  Revision lost_end_;
  std::map<JobId, uint32_t> fragments_;
  std::map<Part, Sequence> committed_;
  // What is committed of each fragment, by the sum of all.
  std::map<std::pair<JobId, Sequence>, std::vector<Sequence>> states_;
  // Sequences at which a job went back, and to which.
  std::map<std::pair<Part, Sequence>, Sequence> same_as_;
  std::map<std::tuple<Part, uint32_t, Sequence>, uint64_t> anchors_;
  // By job, attempt and span.
  std::map<std::tuple<JobId, Attempt, uint32_t>, uint64_t> results_;
  std::map<std::tuple<JobId, Life, Round>,
           std::pair<uint32_t, protocol::Contribution>>
      rounds_;
  // Samples of the rounds of a life.
  std::map<std::pair<Part, Life>, data::RangeSet> used_;
  std::map<std::tuple<HostId, uint64_t, Part>, Seen> seen_;
  std::map<HostId, Said> said_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_CHECK_ANCHORS_H_
