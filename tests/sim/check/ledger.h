// tests/sim/check/ledger.h
//
// Checks the coordinator's journal, and reads nothing else. Numbers rise
// without gaps, a replica has one current life, a fragment has one open
// attempt, every sample is taken exactly once, every contribution once or
// never, and staleness stays within its bound (A3, A4, A5, A9; DESIGN 5: 1, 2,
// 4, 6).
#ifndef SKERRY_TESTS_SIM_CHECK_LEDGER_H_
#define SKERRY_TESTS_SIM_CHECK_LEDGER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/log/records.h"
#include "data/sample_ranges.h"
#include "simulator/observer.h"
#include "tests/sim/check/violations.h"

namespace skerry::sim {

class LedgerChecker final : public Observer {
 public:
  // `out` outlives the checker.
  explicit LedgerChecker(Violations& out) : out_(out) {}

  void OnDurable(const coordinator::Entry& entry) override;
  void OnJournalReplaced(Revision last) override;

 private:
  using Contributor = std::pair<Life, Round>;
  // A fragment of the model.
  struct Part {
    std::optional<std::pair<Attempt, coordinator::Opened>> open;
    Sequence committed;
    data::RangeSet covered;
  };
  // The samples of a life.
  struct Holding {
    data::RangeSet leased;
    // Samples of the life that some fragment has committed.
    data::RangeSet consumed;
    // Samples of contributions that were dropped, by fragment.
    std::map<FragmentId, data::RangeSet> dropped;
  };
  struct Job {
    job::JobSpec spec;
    std::vector<Part> parts;
    std::map<Life, ReplicaId> current;
    std::map<Life, Holding> holdings;
    // Samples that any fragment has committed.
    data::RangeSet consumed;
    // What each fragment had committed at a state, by the sum of all fragments'
    // sequences.
    std::map<Sequence, std::vector<data::RangeSet>> covered_at;
    // The same for states of which there is a checkpoint.
    std::map<Sequence, std::vector<data::RangeSet>> saved;
    std::map<Contributor, protocol::Contribution> offered;
    std::set<Contributor> settled;
    bool ended = false;
    // Set while the job waits for an operator to decide how it goes on.
    bool stands = false;

    Sequence State() const;
    void Note();
    // Returns the samples of ended lives that open attempts name.
    data::RangeSet Reserved() const;
  };

  void Take(const coordinator::JobSubmitted& record);
  void Take(const coordinator::JobEnded& record);
  void Take(const coordinator::JobDeleted& record);
  void Take(const coordinator::WorkerAdmitted& record);
  void Take(const coordinator::ReplicaAdmitted& record);
  void Take(const coordinator::ReplicaEnded& record);
  void Take(const coordinator::Granted& record);
  void Take(const coordinator::Opened& record);
  void Take(const coordinator::Dropped& record);
  void Take(const coordinator::Committed& record);
  void Take(const coordinator::Planned&) {}
  void Take(const coordinator::Evaluated&) {}
  void Take(const coordinator::WorkerLeft& record);
  void Take(const coordinator::JobSized&) {}
  void Take(const coordinator::JobPaused&) {}
  void Take(const coordinator::WorkerMarked&) {}
  void Take(const coordinator::Checkpointed& record);
  void Take(const coordinator::Restored& record);
  void Take(const coordinator::Counted&) {}
  void Take(const coordinator::SeatNoted&) {}
  void Take(const coordinator::NumbersRaised&) {}
  void Take(const coordinator::JoinChanged&) {}
  void Take(const coordinator::Diverged& record);
  void Take(const coordinator::Adopted& record);

  void CheckMember(Job& job, const coordinator::Opened& open,
                   const protocol::Member& member);
  // Checks that every fragment has committed all samples of the current lives
  // that any fragment has, except those that it dropped.
  void CheckDelivered(const Job& job);
  Part& PartOf(Job& job, FragmentId fragment);
  Job& Find(JobId id);
  // Adds `what` unless `holds`, with the record's index.
  void Require(bool holds, const std::string& what);

  Violations& out_;
  // The whole journal, to check its beginning again if an earlier journal takes
  // its place.
  std::vector<coordinator::Entry> entries_;
  Revision last_;
  std::map<JobId, Job> jobs_;
  std::set<std::pair<std::string, Boot>> boots_;
  // State folders of the workers that have not left, by the worker's name.
  std::map<std::string, FolderId> owners_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_CHECK_LEDGER_H_
