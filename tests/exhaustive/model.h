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
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "coordinator/core/cluster.h"
#include "tests/exhaustive/history.h"
#include "tests/exhaustive/scenario.h"
#include "tests/exhaustive/worker_state.h"
#include "tests/sim/check/ledger.h"
#include "tests/sim/check/violations.h"

namespace skerry::exhaustive {

enum class Act {
  kTell,     // its Status arrives at the coordinator
  kTellOld,  // an older one does
  kHear,     // the newest Orders arrive at it
  kRecover,  // takes a base, or a span of one
  kFold,     // applies one committed result
  kGiveUp,   // its life, which needs a result that nobody keeps
  kBegin,    // its replica begins a round, at one cut
  kFinish,   // its part of the round is over
  kFrame,    // what it sends in an attempt has arrived at another
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
  // The fragment, of what happens in one.
  uint32_t fragment = 0;
  // The span of a base, or the receiver of a frame.
  size_t at = 0;
  // A frame of the result.
  bool is_result = false;
};

// The program that every worker of a program's job allows.
inline constexpr char kProgram[] = "program";

class Model {
 public:
  using Step = Action;

  // `found` outlives the model and all its copies.
  Model(const Scenario& scenario, sim::Violations& found);
  Model(const Model& other);
  Model& operator=(const Model&) = delete;

  // In a fixed order; without faults only those that bring the job on.
  std::vector<Action> Actions(bool with_faults) const;
  void Do(const Action& action);
  // Equal for states that go on alike.
  uint64_t Hash() const;
  // Not tried in every order any more.
  bool IsBehindBounds() const {
    return history_.commits() >= commits_before_ + scenario_.commits_max;
  }
  // Goes on without faults; whether the job succeeds. Adds what it did to
  // `way`.
  bool RunsToItsEnd(std::vector<std::string>* way);
  static bool IsFault(const Action& action);
  static std::string ToText(const Action& action);
  std::string ToText() const;

 private:
  // What one worker sends another in an open attempt: its contributions or, if
  // `is_result` is set, the results of the spans that its replica owns.
  struct Frame {
    uint64_t attempt = 0;
    bool is_result = false;
    size_t from = 0;
    size_t to = 0;
    friend auto operator<=>(const Frame&, const Frame&) = default;
  };
  // What a replica's head decides at a boundary (PROTOCOL 4.2.2).
  struct Cut {
    // By fragment; those that the trainer has moved away from stay.
    std::map<uint32_t, Sequence> through;
    data::RangeSet ranges;
    uint32_t turn = 0;
    // Without samples: the fragment delivers what it has.
    bool deliver = false;
  };

  // --- The coordinator.
  void Settle();
  void OnRecord(const coordinator::Entry& entry);
  void CheckEnd(const coordinator::Entry& entry) const;
  void CheckBeginning(const coordinator::Restored& record) const;
  void Deliver(WorkerState& worker, const protocol::StatusFacts& status);
  void Crash();
  void Expire(WorkerState& worker);
  void PassDeadline();
  bool DeadlineIsNear() const;
  void RunToBeginning();

  // --- What may happen.
  void AddDown(size_t index, bool with_faults, std::vector<Action>& to) const;
  void AddSeat(size_t index, bool with_faults, std::vector<Action>& to) const;
  void AddExchange(size_t index, uint32_t fragment, bool with_faults,
                   std::vector<Action>& to) const;
  void GoOn(const Action& action);

  // --- What a worker says and hears.
  // The hash of the values that its trainer begins with.
  uint64_t InitialHash(const WorkerState& worker) const;
  void Boot(WorkerState& worker);
  protocol::StatusFacts StatusOf(const WorkerState& worker) const;
  protocol::FragmentFacts FragmentOf(const WorkerState& worker,
                                     uint32_t fragment) const;
  void AddProgress(const WorkerState& worker, uint32_t fragment,
                   protocol::FragmentFacts& facts) const;
  // Returns the hash of the Status that the worker would send now.
  uint64_t SaysHash(const WorkerState& worker) const;
  // Returns the hash of everything in `orders` that a worker acts on.
  static uint64_t HashOf(const protocol::Orders& orders);
  void Tell(WorkerState& worker);
  void NotePins(WorkerState& worker);
  void Hear(WorkerState& worker);
  void Follow(WorkerState& worker, const protocol::JobOrders& orders);
  void EndLife(Seat& seat, Life next);
  void TakeOutcome(WorkerState& worker, uint32_t fragment);
  void Forget(WorkerState& worker, uint32_t fragment);
  const WorkerState* Find(const std::string& name) const;

  // --- Its state.
  std::optional<Sequence> FloorOf(const WorkerState& worker,
                                  uint32_t fragment) const;
  std::optional<SpanState> BaseFor(const WorkerState& worker, uint32_t fragment,
                                   uint32_t span) const;
  std::optional<uint64_t> BaseAt(const WorkerState& worker, uint32_t fragment,
                                 Sequence sequence, uint32_t span) const;
  bool CanRecover(const WorkerState& worker, uint32_t fragment,
                  uint32_t span) const;
  void Recover(WorkerState& worker, uint32_t fragment, uint32_t span);
  // Returns the entry after the applied one, once everything is there that is
  // needed to fold it.
  const protocol::CommittedEntry* Foldable(const WorkerState& worker,
                                           uint32_t fragment,
                                           Sequence applied) const;
  bool IsAtGap(const WorkerState& worker, uint32_t fragment) const;
  void FoldOne(WorkerState& worker, uint32_t fragment);
  void StoreBase(WorkerState& worker, uint32_t fragment);

  // --- Its rounds.
  std::vector<size_t> ReplicaOf(size_t index) const;
  std::optional<Cut> NextCut(size_t head) const;
  bool AddCuts(const std::vector<size_t>& members, Cut& cut) const;
  std::optional<uint32_t> Delivers(const Seat& head, bool awaits) const;
  void Begin(size_t head);
  void Finish(WorkerState& worker);

  // --- Its attempts.
  const protocol::OpenExchange* NamedIn(const WorkerState& worker,
                                        uint32_t fragment) const;
  // What the worker needs of others in the attempt.
  std::vector<Frame> FramesTo(size_t to,
                              const protocol::OpenExchange& open) const;
  bool HasAll(size_t to, const protocol::OpenExchange& open,
              bool results) const;
  // Whether its sender can send it by now.
  bool IsSent(const Frame& frame, uint32_t fragment) const;
  bool CanStore(size_t index, uint32_t fragment) const;
  void Arrive(const Action& action);
  void SendAll();
  void Store(WorkerState& worker, uint32_t fragment, bool lies);
  void Save(WorkerState& worker);

  // --- What must hold.
  void Break(const std::string& what) const { found_->Add(what); }
  void Check() const;
  void CheckAnchors(const WorkerState& worker) const;
  void CheckKept(uint32_t fragment, uint32_t span) const;
  void CheckPin(const WorkerState& worker, uint32_t fragment) const;
  // A result that it has yet to fold and that is on no disk.
  std::optional<Sequence> Lacking(const WorkerState& worker,
                                  uint32_t fragment) const;
  bool IsOnSomeDisk(uint32_t fragment, Sequence sequence, uint32_t span) const;

  const Scenario scenario_;
  sim::Violations* found_;
  sim::LedgerChecker ledger_;
  coordinator::ClusterOptions options_;
  coordinator::Cluster cluster_;
  std::vector<coordinator::Entry> journal_;
  JobId job_;
  Budget left_;
  Instant now_;
  std::optional<Instant> first_kill_;
  std::vector<WorkerState> workers_;
  std::set<Frame> frames_;
  History history_;
  // Where every order began.
  uint64_t commits_before_ = 0;
};

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_MODEL_H_
