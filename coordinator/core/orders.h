// coordinator/core/orders.h
//
// What a worker is told. Orders are a complete view of durable state, with the
// revision that it reflects (PROTOCOL 3).
#ifndef SKERRY_COORDINATOR_CORE_ORDERS_H_
#define SKERRY_COORDINATOR_CORE_ORDERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/ids.h"
#include "coordinator/core/facts.h"
#include "coordinator/core/types.h"
#include "job/job_spec.h"

namespace skerry::coordinator {

struct CommittedEntry {
  Sequence sequence;
  Attempt attempt;
  // One hash for each span of the fragment, over the encoded bytes of its
  // result.
  std::vector<uint64_t> hashes;
  double total_weight = 0;
  // Samples that the fragment has committed, up to and including this sequence.
  uint64_t samples_committed = 0;
  RoundScalars scalars;
  // The number of the job's state with this commit. 0 in a job with one
  // fragment, where it equals `sequence`.
  uint64_t state = 0;
  // How many replicas contributed. 0 where an older release wrote the snapshot.
  uint32_t members = 0;
  friend bool operator==(const CommittedEntry&,
                         const CommittedEntry&) = default;
};

struct OpenExchange {
  Sequence sequence;
  Attempt attempt;
  std::vector<Member> members;
  std::vector<uint32_t> owners;
  Hops hops = Hops::kTwo;
  double total_weight = 0;
  // The time left when the orders were asked for; never negative.
  absl::Duration deadline_in;
  std::string reason;
  friend bool operator==(const OpenExchange&, const OpenExchange&) = default;
};

// What became of the contribution (replica, life, round).
struct Outcome {
  enum class Kind { kPending, kCommitted, kDropped };
  Round round;
  Kind kind = Kind::kPending;
  // Set when committed.
  Attempt attempt;
  Sequence sequence;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

struct Source {
  SpanHolder holder;
  Sequence base;
  Sequence results_from;
  Sequence results_through;
  // One hash for each span of the base, in order from holder.span_begin.
  std::vector<uint64_t> base_hashes;
  friend bool operator==(const Source&, const Source&) = default;
};

struct FragmentOrders {
  FragmentId fragment;
  Sequence newest;
  std::vector<CommittedEntry> committed;
  std::optional<OpenExchange> open;
  std::optional<Outcome> outcome;
  Sequence keep_from;
  std::vector<Source> sources;
  // The others wait for this replica in this fragment while it waits for them
  // in another. It delivers what it has of this fragment.
  bool wanted = false;
  friend bool operator==(const FragmentOrders&,
                         const FragmentOrders&) = default;
};

struct EvaluationOrder {
  Sequence sequence;
  uint64_t samples_max = 0;
  friend bool operator==(const EvaluationOrder&,
                         const EvaluationOrder&) = default;
};

// A whole state that the worker is to save in the job's folder of checkpoints.
struct CheckpointOrder {
  Sequence sequence;
  uint64_t samples_committed = 0;
  std::vector<StatePiece> pieces;  // by span
  std::vector<data::SampleRange> consumed;
  // The sequences of checkpoints that must stay. The worker that saves this one
  // may die before it says so.
  std::vector<Sequence> pinned;
  // The sequence of each fragment; empty in a job with one.
  std::vector<Sequence> fragment_sequences = {};
  friend bool operator==(const CheckpointOrder&,
                         const CheckpointOrder&) = default;
};

// The state at `sequence` is that of the checkpoint.
struct RestoredState {
  Sequence sequence;
  Sequence checkpoint;
  std::string sha256;
  uint64_t samples_committed = 0;
  // The sequence of each fragment; empty in a job with one.
  std::vector<Sequence> fragment_sequences = {};
  friend bool operator==(const RestoredState&, const RestoredState&) = default;
};

struct GenerateOrder {
  // Chosen by the shell; unique for ever, also across restarts.
  uint64_t request = 0;
  std::string prompt;
  uint32_t tokens = 0;
  double temperature = 0;
  uint64_t seed = 0;
  friend bool operator==(const GenerateOrder&, const GenerateOrder&) = default;
};

struct JobOrders {
  JobId job;
  // Tells this job's files from those of another job with the same number,
  // which a coordinator may give once it has lost its journal. It is a hash of
  // the submission's key and the number.
  uint64_t uid = 0;
  job::JobSpec spec;
  JobPhase phase = JobPhase::kPending;
  Epoch epoch;
  // Unset while the worker has to recover and wait to be admitted.
  Life life;
  ReplicaId replica;
  // By rank. Before the model's size is known every span range is empty.
  std::vector<SpanHolder> holders;
  std::vector<data::SampleRange> granted;
  // No round may start.
  bool paused = false;
  std::vector<FragmentOrders> fragments;
  std::vector<EvaluationOrder> evaluations;
  std::vector<GenerateOrder> generate;
  std::optional<CheckpointOrder> checkpoint;
  std::optional<RestoredState> restored;
  // This life gets no more samples for now: none is free for it, it drains, or
  // the job is paused. It delivers what it has trained on to every fragment.
  // Always false in a job with one fragment.
  bool nothing_left = false;
  // The number of the model's elements; 0 while it is not known.
  uint64_t element_count = 0;
  friend bool operator==(const JobOrders&, const JobOrders&) = default;
};

struct Orders {
  Revision revision;
  Boot boot;
  Incarnation incarnation;
  absl::Duration lease;
  std::vector<JobOrders> jobs;
  bool released = false;
  // An operator drains the worker; the process stays.
  bool drain = false;
  // Data sets to look at.
  std::vector<std::string> data_paths = {};
  // Folders on the worker's disk: of jobs that have ended, and those that it
  // removes now.
  std::vector<StoredJobKey> ended_jobs = {};
  std::vector<StoredJobKey> removed_jobs = {};
  friend bool operator==(const Orders&, const Orders&) = default;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_ORDERS_H_
