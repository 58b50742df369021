// tests/exhaustive/model.h
//
// A coordinator's real core among workers so small that every order of events
// can be tried. Workers do what PROTOCOL 4 and 6 say with hashes in place of
// tensors; their disks, what they have sent each other and the coordinator's
// journal are part of the state. One action is one event; faults cost a budget.
#ifndef SKERRY_TESTS_EXHAUSTIVE_MODEL_H_
#define SKERRY_TESTS_EXHAUSTIVE_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/state_hash.h"
#include "tests/sim/check/ledger.h"
#include "tests/sim/check/violations.h"

namespace skerry::exhaustive {

// What may go wrong, how often in one history.
struct Budget {
  int coordinator_crashes = 0;
  // Of workers' processes.
  int kills = 0;
  // Of killed workers.
  int disk_losses = 0;
  // Leases of dead workers.
  int expiries = 0;
  // Timers of rounds, while somebody could still act.
  int deadlines = 0;
  // An older Status arrives again.
  int late = 0;
  // Another result is stored than that of the members.
  int lies = 0;
};

struct Scenario {
  // Island of each worker.
  std::vector<std::string> islands;
  uint32_t spans = 1;
  uint64_t samples = 2;
  uint32_t carry = 2;
  double quorum = 1;
  bool saves = false;
  Budget budget;
};

enum class Act {
  kTell,     // its Status arrives at the coordinator
  kTellOld,  // an older one does
  kHear,     // the newest Orders arrive at it
  kRecover,  // takes a base
  kFold,     // applies one committed result
  kBegin,    // its replica begins a round, at one cut
  kFinish,   // its part of the round is over
  kFrames,   // what it owes has arrived at the members
  kStore,    // the result is on its disk
  kLie,      // another result is
  kEvaluate,
  kSave,  // the state that it was ordered to save is saved
  kKill,
  kLoseDisk,  // of a worker that is down
  kStart,
  kExpire,    // a worker that is down has been silent for a lease
  kDeadline,  // the coordinator's next timer
  kCrash,     // the coordinator starts again from its journal
};

struct Action {
  Act act = Act::kTell;
  size_t worker = 0;
};
std::string ToText(const Action& action);

class Model {
 public:
  // `found` outlives the model and all its copies.
  Model(const Scenario& scenario, sim::Violations& found);
  Model(const Model& other);
  Model& operator=(const Model&) = delete;

  // In a fixed order; without faults only those that bring the job on.
  std::vector<Action> Actions(bool with_faults) const;
  void Do(const Action& action);
  // Equal for states that go on alike.
  uint64_t Hash() const;
  bool Ended() const { return ended_; }
  // Goes on without faults; whether the job succeeds. Adds what it did to
  // `way`.
  bool RunsToItsEnd(std::vector<std::string>* way);

 private:
  struct Round {
    skerry::Round number;
    Sequence base;
    std::vector<data::SampleRange> ranges;
  };
  struct Seat {
    bool is_there = false;
    coordinator::JobOrders orders;
    Life life;
    uint32_t begin = 0;
    uint32_t end = 0;
    // Set once it has a state.
    std::optional<Sequence> applied;
    Sequence pin;
    std::map<uint32_t, uint64_t> anchors;
    // Committed entries that it has heard of.
    std::map<Sequence, coordinator::CommittedEntry> known;
    std::optional<coordinator::StoredResult> stored;
    std::optional<coordinator::Contribution> ready;
    std::optional<Round> running;
    data::RangeSet used;
    skerry::Round newest;
    std::set<Sequence> evaluated;
    std::optional<coordinator::CheckpointFact> saved;
    bool resting = false;
  };
  // By (sequence, span) and by (sequence, attempt, span).
  struct Disk {
    std::map<std::pair<uint64_t, uint32_t>, uint64_t> bases;
    std::map<std::tuple<uint64_t, uint64_t, uint32_t>, uint64_t> results;
  };
  struct Worker {
    std::string name;
    std::string island;
    bool alive = true;
    uint64_t starts = 0;
    Boot boot;
    Incarnation incarnation;
    uint64_t counter = 0;
    Seat seat;
    Disk disk;
    // Of what it has said last, and whether it was heard.
    uint64_t told = 0;
    std::optional<coordinator::StatusFacts> last;
    std::optional<coordinator::StatusFacts> before;
    uint64_t heard = 0;
  };

  // --- The coordinator.
  void Settle();
  void OnRecord(const coordinator::Entry& entry);
  void OnCommit(const coordinator::Committed& commit);
  void Deliver(Worker& worker, const coordinator::StatusFacts& status);
  void Crash();
  void Expire(Worker& worker);
  void PassDeadline();
  bool DeadlineIsNear() const;

  // --- A worker.
  void Boot(Worker& worker);
  coordinator::StatusFacts StatusOf(const Worker& worker) const;
  coordinator::FragmentFacts FragmentOf(const Worker& worker) const;
  uint64_t HashOf(const coordinator::Orders& orders) const;
  uint64_t MemoryHash(const Worker& worker) const;
  void GoOn(Act act, size_t index);
  void Tell(Worker& worker);
  void Hear(Worker& worker);
  void Follow(Worker& worker, const coordinator::JobOrders& orders);
  void Settle(Seat& seat, const coordinator::Outcome& outcome);
  void Forget(Worker& worker, Sequence keep_from);
  bool CanRecover(const Worker& worker, bool apply, Seat* into) const;
  const coordinator::CommittedEntry* Foldable(const Worker& worker,
                                              Sequence applied) const;
  const Worker* Find(const std::string& name) const;
  std::optional<uint64_t> BaseOf(const Worker& worker, Sequence sequence,
                                 uint32_t span) const;
  void FoldOne(Worker& worker);
  std::vector<size_t> ReplicaOf(size_t worker) const;
  bool CanBegin(size_t worker, std::vector<data::SampleRange>* ranges,
                Sequence* cut) const;
  void Begin(size_t head);
  void Finish(Seat& seat);
  const coordinator::Member* OpenMember(const Worker& worker) const;
  bool CanStore(const Worker& worker) const;
  void Store(Worker& worker, bool lies);
  void Save(Worker& worker);
  void CheckAnchors(const Worker& worker);
  void Break(const std::string& what);

  const Scenario scenario_;
  sim::Violations* found_;
  sim::LedgerChecker ledger_;
  coordinator::ClusterOptions options_;
  coordinator::Cluster cluster_;
  std::vector<coordinator::Entry> journal_;
  JobId job_;
  Budget left_;
  Instant now_;
  std::vector<Worker> workers_;
  // Of the open attempt: whose frames have arrived.
  std::set<std::pair<uint64_t, size_t>> frames_;
  std::map<uint64_t, coordinator::Opened> opened_;
  // Of every span at every committed sequence.
  std::vector<std::vector<uint64_t>> anchors_;
  std::map<std::pair<uint64_t, uint64_t>, bool> fates_;
  // In the store of blobs: states that are whole there, by span.
  std::map<Sequence, std::vector<uint64_t>> blobs_;
  bool ended_ = false;
  bool succeeded_ = false;
};

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_MODEL_H_
