// tests/exhaustive/history.h
//
// Judges one history by its journal and the Statuses that were taken: it knows
// what may follow from them, and shares no code with the coordinator.
#ifndef SKERRY_TESTS_EXHAUSTIVE_HISTORY_H_
#define SKERRY_TESTS_EXHAUSTIVE_HISTORY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "coordinator/core/log/records.h"
#include "protocol/fragment_facts.h"
#include "protocol/status_facts.h"
#include "tests/exhaustive/scenario.h"
#include "tests/sim/check/violations.h"

namespace skerry::exhaustive {

class History {
 public:
  // A whole state in the store of blobs.
  struct Saved {
    // By fragment, then by span.
    std::vector<std::vector<uint64_t>> anchors;
  };

  // Both outlive the history and its copies.
  History(const Scenario& scenario, sim::Violations& found);

  void OnRecord(const coordinator::Entry& entry);
  // Before the record of it: a life is ended whose workers would go on.
  void OnJudged(Life life) const;
  // The coordinator has taken it in.
  void OnSaid(const protocol::StatusFacts& status);
  // It starts anew, and has heard of nothing.
  void OnCrash() { said_.clear(); }
  void OnSaved(Sequence state, Saved saved) { saved_[state] = saved; }

  uint64_t commits() const { return commits_; }
  bool ended() const { return ended_; }
  bool succeeded() const { return succeeded_; }
  Sequence Newest(uint32_t fragment) const {
    return Sequence(parts_[fragment].anchors.size() - 1);
  }
  // The newest state of a fragment that is no result's.
  Sequence FloorOf(uint32_t fragment) const { return parts_[fragment].floor; }
  uint64_t AnchorAt(uint32_t fragment, Sequence sequence, uint32_t span) const {
    return parts_[fragment].anchors[sequence.value()][span];
  }
  // Requires: 0 < sequence <= Newest(fragment), and no floor.
  const coordinator::Committed& CommitOf(uint32_t fragment,
                                         Sequence sequence) const {
    return parts_[fragment].commits.at(sequence);
  }
  bool IsOpen(uint32_t fragment, Attempt attempt) const;
  // Whether it was committed; unset while that is open.
  std::optional<bool> FateOf(uint32_t fragment, Life life, Round round) const;
  const std::map<Sequence, Saved>& saved() const { return saved_; }
  // By fragment, at that state of the job.
  std::vector<Sequence> SequencesAt(Sequence state) const {
    return states_.at(state);
  }

 private:
  struct Part {
    // By sequence and span.
    std::vector<std::vector<uint64_t>> anchors;
    // What the job begins with, by span.
    std::vector<uint64_t> beginning;
    std::map<Sequence, coordinator::Committed> commits;
    Sequence floor;
    std::optional<std::pair<Attempt, coordinator::Opened>> open;
    // So often the same contributions were named, one attempt after another.
    int repeated = 0;
  };
  // What members have said of a span of an attempt.
  struct Reports {
    size_t current = 0;
    std::map<ReplicaId, uint64_t> hashes;
  };

  void Take(Attempt index, const coordinator::Opened& record);
  void Take(const coordinator::Committed& record);
  void Take(const coordinator::Restored& record);
  // The job begins with the values of that hash.
  void BeginWith(uint64_t initial_hash);
  void CheckCommit(const coordinator::Committed& record,
                   const coordinator::Opened& open) const;
  Reports ReportsOf(Attempt attempt, const coordinator::Opened& open,
                    uint32_t span) const;
  const protocol::FragmentFacts* SaidBy(const std::string& worker, Life life,
                                        FragmentId fragment) const;
  void NoteState();
  void Break(const std::string& what) const { found_->Add(what); }

  const Scenario* scenario_;
  sim::Violations* found_;
  std::vector<Part> parts_;
  std::map<Life, ReplicaId> lives_;
  std::map<std::string, protocol::StatusFacts> said_;
  std::map<std::tuple<uint64_t, Life, Round>, bool> fates_;
  std::map<Sequence, Saved> saved_;
  // By the sum of all sequences.
  std::map<Sequence, std::vector<Sequence>> states_;
  uint64_t commits_ = 0;
  bool ended_ = false;
  bool succeeded_ = false;
};

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_HISTORY_H_
