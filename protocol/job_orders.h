// protocol/job_orders.h
//
// Defines what a worker is told about one job.
#ifndef SKERRY_PROTOCOL_JOB_ORDERS_H_
#define SKERRY_PROTOCOL_JOB_ORDERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "data/sample_ranges.h"
#include "job/job_spec.h"
#include "protocol/fragment_orders.h"
#include "protocol/job_phase.h"
#include "protocol/peers.h"
#include "protocol/state_piece.h"

namespace skerry::protocol {

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
  data::RangeSet consumed;
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
  // The replica's workers by rank; rank 0 is the head. Empty before the worker
  // has a place. Before the model's size is known every span range is empty.
  std::vector<SpanHolder> holders;
  data::RangeSet granted;
  // No round may start. The worker delivers what it owes, and the life goes on.
  bool paused = false;
  // One that is not named has nothing new.
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
  // The hash of the values that a job with a program began with. 0 while it is
  // not known, and in other jobs.
  uint64_t initial_hash = 0;
  // The first element that is averaged; 0 when none is.
  uint64_t average_begin = 0;
  // The names of the job's workers, with the receiver among them: these fetch
  // from it. Empty when they are too many to name, and from coordinators before
  // this field.
  std::vector<std::string> workers = {};
  // Workers of the job that have its data set and give it to the receiver, in
  // the order in which to ask them. Empty when the receiver has it.
  std::vector<std::string> data_holders = {};
  friend bool operator==(const JobOrders&, const JobOrders&) = default;
};

// The sequence that is the state that the job has gone back to; unset when it
// never did.
inline Sequence RestoredAt(const JobOrders& orders) {
  return orders.restored.has_value() ? orders.restored->sequence : Sequence();
}

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_JOB_ORDERS_H_
