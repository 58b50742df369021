// coordinator/core/views/views.h
//
// Defines what operators see. Views are built on request from the core's state,
// and none is kept.
#ifndef SKERRY_COORDINATOR_CORE_VIEWS_VIEWS_H_
#define SKERRY_COORDINATOR_CORE_VIEWS_VIEWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/ids.h"
#include "coordinator/core/log/worker_intent.h"
#include "job/job_spec.h"
#include "protocol/job_phase.h"
#include "protocol/metrics.h"
#include "protocol/program_fact.h"
#include "protocol/seat_counters.h"
#include "protocol/status_facts.h"
#include "protocol/stored_jobs.h"

namespace skerry::coordinator {

using protocol::JobPhase;
using protocol::StoredJobKey;

struct LossPoint {
  Sequence sequence;
  uint64_t samples = 0;
  // Unset when no trainer measured one.
  std::optional<double> training_loss;
  std::optional<double> validation_loss;
};

struct SeatView {
  std::string worker;
  // starting | recovering | active | resting | failed | silent
  std::string state;
  std::string error;
  Sequence applied;
  uint32_t span_begin = 0;
  uint32_t span_end = 0;
  // Over `anchor_hashes`; 0 when nothing was reported.
  uint64_t anchor_hash = 0;
  std::vector<uint64_t> anchor_hashes;
  double owed_norm = 0;
  // What is wrong with the trainer although the worker takes part.
  std::string trainer_trouble;
  // What the worker's process has done for the job since it took it up.
  protocol::SeatCounters counters;
};

struct ReplicaView {
  ReplicaId replica;
  // Unset while the replica waits to be admitted.
  Life life;
  std::string island;
  std::vector<SeatView> seats;
  bool suspected = false;
};

struct JobCounters {
  uint64_t bulk_sent_bytes = 0;
  uint64_t synchronous_bytes = 0;
  double compute_s = 0;
  double stall_s = 0;
  uint64_t commits = 0;
  uint64_t attempts = 0;
  uint64_t contributions_dropped = 0;
  uint64_t lives = 0;
  double tokens_per_s = 0;
  double samples_per_s = 0;
  // The share of the workers' time, in [0, 1], that went into inner steps whose
  // samples did not have to be given out again. Unset before the first step.
  std::optional<double> goodput;
};

// One exchange, and how its members send.
struct ExchangeView {
  struct Member {
    ReplicaId replica;
    std::string codec;
    std::string result_codec;
    // The most bytes that `elements` have in `codec`.
    uint64_t encoded_bytes = 0;
    // Commits of the fragment between the anchor that the round started from
    // and the one that its contribution goes on top of.
    uint64_t lateness = 0;
    double samples = 0;
  };
  FragmentId fragment;
  Sequence sequence;
  Attempt attempt;
  bool open = false;
  uint32_t hops = 0;
  uint64_t elements = 0;
  std::string reason;
  std::vector<Member> members;
};

// A saved checkpoint that is kept.
struct CheckpointView {
  Sequence sequence;
  std::string worker;
  uint64_t bytes = 0;
};

enum class ConditionKind {
  kDiverged,          // workers have a history that the journal does not have
  kPaused,            // by the operator
  kQueued,            // other jobs or a quota come first
  kTooFewWorkers,     // fewer than it needs may have a place
  kStarting,          // trainers start
  kRecovering,        // workers read or fetch the state
  kWorkerTrouble,     // a worker says what is wrong there
  kDraining,          // all its workers leave
  kSilent,            // nothing is heard of any replica
  kSpansLost,         // no worker that is there holds some spans
  kTooFewReplicas,    // fewer than exchange.min_replicas
  kAwaitsJoiner,      // commits pause for one that catches up
  kExchangeFails,     // one exchange was opened again and again
  kNoEvaluator,       // nobody can evaluate the final anchor
  kCheckpointFolder,  // a worker cannot save to checkpoint.directory
  kCheckpointFails,   // the newest try to save a state failed
};

// Something that operators should know about a job.
struct Condition {
  ConditionKind kind = ConditionKind::kPaused;
  std::string text;
  // It will not pass by itself.
  bool needs_help = false;
};

// Where the model of an ended job lies.
struct ModelPlace {
  // The newest state that is whole on workers that are there; without workers
  // there is none.
  Sequence sequence;
  std::vector<std::string> workers;
  // How long they keep it, if it is not the oldest of too many bytes.
  absl::Duration kept;
  // What the one that keeps least keeps of all ended jobs together.
  uint64_t keep_ended_bytes = 0;
};

struct JobView {
  JobId id;
  job::JobSpec spec;
  JobPhase phase = JobPhase::kPending;
  // An operator has paused the job. False once the job has ended.
  bool paused = false;
  // Workers have a history that the journal does not have.
  bool diverged = false;
  // What the job is doing, or why it does not move, in words.
  std::string reason;
  std::vector<Condition> conditions;
  // Since it was submitted, or since the coordinator started if that is later.
  absl::Duration age;
  Sequence sequence;
  uint64_t samples_committed = 0;
  uint64_t samples_total = 0;
  uint32_t tokens_per_sample = 0;
  uint64_t parameters = 0;
  std::vector<LossPoint> losses;
  std::vector<ReplicaView> replicas;
  JobCounters counters;
  Revision revision;
  Attempt open_attempt;
  uint64_t open_tries = 0;
  // The sequence of the newest checkpoint that was saved; unset when none was.
  Sequence checkpoint;
  // The place among the jobs that wait for workers, counted from 1; 0 when the
  // job does not wait.
  size_t queue_position = 0;
  size_t queue_length = 0;
  // Samples that some fragments have taken in and others have not.
  uint64_t samples_partly = 0;
  // Unset while it is not known; 0 when the job is not evaluated.
  std::optional<uint64_t> validation_samples;
  // optimizer::OwnShare() of the newest commit; 0 before one.
  double own_share = 0;
  // RoundScalars::late_steps of the newest commit; 0 before one.
  double late_steps = 0;
  // Set only for a job that has ended.
  std::optional<ModelPlace> model;
  // For each name, the mean over the workers in a life that report it. At most
  // kMetricsMax names.
  protocol::Metrics metrics;
  // SHA-256 of the first worker's program; empty while there is none.
  std::string program_sha256;
  // The open exchange, or else the newest one. Unset before the first, and
  // after a restart until the next one opens.
  std::optional<ExchangeView> exchange = {};
  std::vector<CheckpointView> checkpoints = {};  // by sequence
};

// What a worker has measured of its link to another worker, from frames.
struct LinkView {
  std::string worker;
  double bytes_per_s = 0;
  double round_trip_s = 0;
};

// A job's folder on a worker's disk.
struct StoredJobView {
  StoredJobKey key;
  uint64_t bytes = 0;
  // live | ended | deleted | unknown
  std::string state;
  // The job's name; empty when the job is not remembered.
  std::string name;
};

struct WorkerView {
  std::string worker;
  std::string island;
  std::string address;
  Incarnation incarnation;
  // connected | suspected | lost | draining | cordoned | drained
  std::string state;
  absl::Duration silence;
  std::vector<std::string> jobs;
  std::string release;
  WorkerIntent intent = WorkerIntent::kServe;
  absl::Duration lease;
  protocol::MachineFacts machine;
  std::vector<LinkView> links;
  // The newest process that was refused because this one has its name.
  struct Contender {
    std::string address;
    absl::Duration age;
  };
  std::optional<Contender> contender = {};
  // Jobs that it cannot serve now, and why.
  struct Unserved {
    std::string job;
    std::string reason;
  };
  std::vector<Unserved> unserved = {};
  std::vector<StoredJobView> stored_jobs = {};
  // Why it drains by its own word, when it has said so.
  std::string drain_reason = {};
  // Why it has no part in its island (placing.h); empty when it has.
  std::string apart = {};
  std::vector<protocol::ProgramFact> programs = {};
  // dialled | reverse | relay NAME, with several names separated by commas
  std::string reached = {};
  // Workers that send to it and get no answer.
  std::vector<std::string> unreached_by = {};
  // The workers that it reaches through relays, and the relay of each.
  absl::btree_map<std::string, std::string> relayed = {};
  // It was started as a relay, and passes streams on between so many pairs.
  bool relay = false;
  size_t relayed_pairs = 0;
  // Its addresses beside `address`, in order of preference.
  std::vector<std::string> more_addresses = {};
  // Workers of other islands that have dialled it, and what each found.
  struct TriedBy {
    std::string worker;
    std::string island;
    double round_trip_ms = 0;  // 0 without an answer
    std::string error;         // empty with one
    friend bool operator==(const TriedBy&, const TriedBy&) = default;
  };
  std::vector<TriedBy> tried_by = {};
  // None of them could, and it is not outbound-only by its own word.
  bool found_hidden = false;
};

struct EventView {
  Revision revision;
  // Unset for events of the cluster.
  JobId job;
  std::string name;
  std::string message;
  // The worker that the event belongs to; empty for an event of a job.
  std::string worker = {};
  friend bool operator==(const EventView&, const EventView&) = default;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_VIEWS_VIEWS_H_
