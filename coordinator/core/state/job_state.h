// coordinator/core/state/job_state.h
//
// Holds everything that the coordinator knows of one job: what its records say,
// and what workers have said since this process started. The rules that read
// and change it are free functions, with one file for each idea.
#ifndef SKERRY_COORDINATOR_CORE_STATE_JOB_STATE_H_
#define SKERRY_COORDINATOR_CORE_STATE_JOB_STATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "base/instant.h"
#include "base/name_map.h"
#include "coordinator/core/log/audit.h"
#include "coordinator/core/log/coverage.h"
#include "coordinator/core/log/job_log.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/log/replica_table.h"
#include "coordinator/core/log/round_machine.h"
#include "coordinator/core/log/sample_ledger.h"
#include "coordinator/core/state/options.h"
#include "coordinator/core/state/owner_hold.h"
#include "coordinator/core/state/queue.h"
#include "coordinator/core/state/round_timers.h"
#include "coordinator/core/state/worker_table.h"
#include "planner/codec_controller.h"
#include "protocol/fragment_facts.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "protocol/peers.h"
#include "protocol/seat_counters.h"

namespace skerry::coordinator {

using protocol::FragmentFacts;
using protocol::JobFacts;

// What one worker says of the job. If the worker has a new incarnation, the
// facts of the old one are forgotten.
struct Seat {
  Incarnation incarnation;
  JobFacts facts;
  // The newest life that this process said it is in.
  Life joined;
  // Why it may have no place here although it runs; empty: it may.
  std::string unfit;
  // As the newest SeatNoted of this incarnation says.
  std::string noted;
};

// How far a joiner with a state is behind the commits, and whether commits wait
// for it (chase.h).
struct Chase {
  enum class Stage {
    kWatched,
    kAwaited,  // it does not gain: nothing is committed until it is level
    kGivenUp,  // it was waited for in vain
  };
  Stage stage = Stage::kWatched;
  // When it was last measured, or given up.
  Instant since;
  // Both then, in commits.
  uint64_t newest = 0;
  uint64_t behind = 0;
  // When it was last begun to be waited for, and for how long at most.
  Instant awaited_since;
  absl::Duration allowed;
};

// Workers that recover together, to be admitted as the island's next replica.
struct Place {
  std::vector<std::string> workers;
  std::vector<Incarnation> incarnations;
  // Empty before the job's size is known.
  std::vector<SpanHolder> holders;
  // When whoever joins a running replica was first ready to take over.
  std::optional<Instant> ready_since;
  std::optional<Chase> chase;
};

// An island that waits for a lost worker before the others go on without it.
struct Settling {
  Instant until;
  std::vector<std::string> workers;
};

// A life that drains. It ends when a round later than `decided` has its
// outcome.
struct Drain {
  Instant since;
  Round decided;
};

// A save in progress: one worker saves a whole state.
struct Saving {
  std::string worker;
  Incarnation incarnation;
  Instant since;
  protocol::CheckpointOrder order;
  // The worker has said that it saves this state.
  bool begun = false;
};

// Spans that no worker that is there holds.
struct LostSpans {
  Instant since;
  // A hash of what the workers say they have. While it changes, one of them may
  // yet find the spans.
  uint64_t facts = 0;
  // The wait for them is over. What is left may be saved before the job goes
  // back.
  bool given_up = false;
  // The wait for those that train is over. Workers that are left out are asked
  // what they have, until nothing is lost any more.
  bool all_asked = false;
};

// Processes of workers since this coordinator took the values that the job
// begins with (beginning.h).
struct Beginners {
  using Processes = absl::btree_set<std::pair<std::string, Incarnation>>;
  // Their trainers have said that they begin with these values.
  Processes named;
  // They have had a place.
  Processes placed;
  // Each has had it since. One without a place does not say what it has made.
  bool all_stayed = true;
};

// What workers have said, and what follows from that and from the time. No part
// of it is written down; after a restart the workers say it again.
struct JobHeard {
  Instant since;
  // Samples that were committed before `since`; for rates.
  uint64_t samples_at_start = 0;
  NameMap<Seat> seats;
  // By worker, the counters that its process has said last.
  absl::btree_map<std::string, SeatCounters> counting;
  absl::btree_map<std::string, Place> places;
  absl::btree_map<std::string, Settling> settling;
  // True if the workers that may have a place have changed since the places
  // were made.
  bool places_stale = true;
  std::vector<RoundTimers> timers;
  absl::btree_map<size_t, OwnerHold> owner_holds;  // by fragment
  // By fragment, of an adaptive job.
  absl::btree_map<size_t, planner::CodecController> codec_controllers;
  absl::btree_map<Life, Drain> draining;
  // By fragment; from where workers keep (PROTOCOL 5.8).
  std::vector<Sequence> keep_from;
  // By fragment, reported anchors that are not compared yet: sequence, span,
  // life, hash.
  using Anchors = absl::btree_map<
      Sequence, absl::btree_map<uint32_t, absl::btree_map<Life, uint64_t>>>;
  std::vector<Anchors> anchors;
  // Lives that are waited for in a fragment while they wait in another one
  // (offers.h).
  absl::btree_set<std::pair<Life, FragmentId>> wanted;
  std::optional<Saving> saving;
  // No save starts before this moment. After a restart, workers that are saving
  // have time to say so. After a failed save, the pause grows with the number
  // of failures in a row. The last failure was of the state `save_failed`.
  Instant save_not_before;
  int save_failures = 0;
  Sequence save_failed;
  std::optional<LostSpans> lost_spans;
  // Who evaluates which sequence, since when.
  std::string evaluator;
  Sequence evaluating;
  Instant evaluator_since;
  std::optional<Instant> final_since;
  std::optional<Instant> final_alone_since;
  // Workers whose orders changed by something that is no record.
  absl::btree_set<std::string> touched;
  // Unset when an earlier process of the coordinator took the values, and once
  // a state of them is there.
  std::optional<Beginners> beginners;
  // Deadlines up to here have been looked at.
  Instant decided_at;
  // Workers have said something new since the rules were last run.
  bool undecided = false;
};

// A job is what its records have come to, and what was heard of it since.
struct JobState : JobLog, JobHeard {
  JobState(JobId id, const JobSubmitted& record, const ClusterOptions& options);

  const JobId id;
  const job::JobSpec spec;
  const std::string idempotency_key;
  // Follows from the spec (job/needs.h).
  const uint64_t memory_needed;
  // The number of spans in each fragment; 0 until the job is sized.
  uint32_t span_count = 0;
  // These fold records by themselves.
  ReplicaTable replicas;
  SampleLedger ledger;
  std::vector<RoundMachine> fragments;
  Audit audit;
  Coverage coverage;

  bool Ended() const { return phase > JobPhase::kRunning; }
  bool Sized() const { return span_count > 0; }
  // The model as it is committed now, as a number: the sum of the fragments'
  // newest sequences, so the newest sequence of a job with one. It rises by one
  // a commit.
  Sequence State() const;
  // States before this one are of no use.
  Sequence Floor() const;
  // Every sample is in the model, and nothing that a life trained on will yet
  // come to any fragment.
  bool Trained() const;
  // What it began with, as if that had been saved as sequence 0.
  Checkpointed Beginning() const;
  // Null when it is not kept.
  const Checkpointed* FindCheckpoint(Sequence sequence) const;
  // The seat, if it is of that incarnation; null otherwise.
  const Seat* SeatOf(std::string_view worker, Incarnation incarnation) const;
};

// What a rule may look at and do. `emit` makes a decision: the record is part
// of the state when it returns.
struct Decider {
  Instant now;
  const ClusterOptions& options;
  const WorkerTable& workers;
  absl::FunctionRef<Turn(JobId)> turn;
  absl::FunctionRef<void(Record)> emit;
};

// Folds a record of this job. Errors: DataLoss when it does not follow from
// those before it.
absl::Status ApplyToJob(JobState& job, const Entry& entry);

// Adds what a process has done since it said `before`, given that it now says
// `now`. Totals that have fallen are those of another process.
void AddGrowth(const SeatCounters& before, const SeatCounters& now,
               SeatCounters& totals);

// Ends a life with its reason, and forgets what was heard of it.
void EndLife(JobState& job, const Decider& decider, Life life,
             std::string reason);

// Ends all of them.
void EndLives(JobState& job, const Decider& decider, const std::string& why);

// Tells this job's files and facts from those of another history, in which a
// job had the same number.
uint64_t UidOf(const JobState& job);

// The replica that this incarnation of the worker is part of; null when none.
const Replica* CurrentReplicaOf(const JobState& job, std::string_view worker,
                                Incarnation incarnation);

// Returns the number of elements in the whole fragment. The job must be sized.
uint64_t ElementsOf(const JobState& job, size_t fragment);

// Whether any worker of the replica is suspected.
bool IsSuspected(const Replica& replica, const WorkerTable& workers);

// The facts of a fragment that a worker of the replica reported in its life;
// null when there are none.
const FragmentFacts* FactsInLife(const JobState& job, const Replica& replica,
                                 size_t rank, FragmentId fragment);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_JOB_STATE_H_
