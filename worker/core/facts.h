// worker/core/facts.h
//
// Everything a Status says about one job on this worker. A fact once reported
// stays true for the worker's incarnation.
#ifndef SKERRY_WORKER_CORE_FACTS_H_
#define SKERRY_WORKER_CORE_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "worker/core/orders.h"

namespace skerry::worker {

enum class SeatState { kStarting, kRecovering, kActive, kResting, kFailed };

// A result of an open attempt that is on disk.
struct StoredResultFact {
  Sequence sequence;
  Attempt attempt;
  std::vector<uint64_t> hashes;  // of each held span, in span order
  double squared_norm = 0;       // of the mean, over the held spans
  friend bool operator==(const StoredResultFact&,
                         const StoredResultFact&) = default;
};

// Bytes of the open attempt that have come from one member.
struct MemberProgress {
  ReplicaId replica;
  uint64_t bytes = 0;
  uint64_t bytes_expected = 0;  // an upper bound until the last part is known
  friend bool operator==(const MemberProgress&,
                         const MemberProgress&) = default;
};

// Spans [span_begin, span_begin + hashes.size()) of one base, on disk.
struct HeldBase {
  Sequence sequence;
  uint32_t span_begin = 0;
  std::vector<uint64_t> hashes;
  friend bool operator==(const HeldBase&, const HeldBase&) = default;
};

struct Evaluation {
  Sequence sequence;
  double loss = 0;
  uint64_t samples = 0;
  friend bool operator==(const Evaluation&, const Evaluation&) = default;
};

struct Generated {
  uint64_t request = 0;
  std::string text;   // bytes; a byte-level model may end inside a character
  std::string error;  // empty: none
  friend bool operator==(const Generated&, const Generated&) = default;
};

// Totals since the seat was made.
struct SeatCounters {
  uint64_t payload_bytes_sent = 0;  // each frame once, whatever was resent
  uint64_t payload_bytes_received = 0;
  uint64_t parts_repeated = 0;
  double compute_s = 0;
  double stall_s = 0;  // at boundaries with nothing to compute
  uint64_t samples = 0;
  uint64_t rounds = 0;
  uint64_t trainer_restarts = 0;
  friend bool operator==(const SeatCounters&, const SeatCounters&) = default;
};

// Conservation (PROTOCOL 4.4) as sums over elements of the held spans, in
// float64 and weighted units: produced = taken + lost + owed, to rounding.
struct Audit {
  double produced = 0;
  double taken = 0;  // left by outcomes `committed`, errors handed back
  double lost = 0;
  double owed = 0;
  friend bool operator==(const Audit&, const Audit&) = default;
};

// What a Status says about one fragment of the model.
struct FragmentFacts {
  uint32_t span_begin = 0;
  Sequence applied;
  std::vector<uint64_t> anchor_hashes;  // of the held spans at `applied`
  Sequence stored_through;
  std::optional<StoredResultFact> stored;
  std::optional<Contribution> ready;
  std::vector<MemberProgress> progress;
  std::vector<HeldBase> bases;
  Sequence first_result_kept;
  Sequence pin;
  double owed_norm = 0;
  double lost_norm = 0;
  // The attempt whose commit made the state at `applied`. Unset when that state
  // is a base or its attempt is not known.
  Attempt applied_attempt;
  // The newest sequence with a result on disk, committed or not.
  Sequence last_result;
  // The attempt of that result, the highest where the sequence has several.
  Attempt last_result_attempt;
  friend bool operator==(const FragmentFacts&, const FragmentFacts&) = default;
};

struct JobFacts {
  JobId job;
  Life life;
  SeatState state = SeatState::kStarting;
  std::string error;
  uint64_t element_count = 0;
  uint64_t epoch_samples = 0;
  double flops_per_sample = 0;
  std::optional<uint64_t> validation_samples;
  uint64_t initial_hash = 0;
  uint64_t layout_hash = 0;

  // One for each fragment, in order.
  std::vector<FragmentFacts> fragments = std::vector<FragmentFacts>(1);

  std::vector<Evaluation> evaluations;
  std::vector<Generated> generated;
  SeatCounters counters;
  // The newest life that this seat left by itself; the coordinator ends it.
  Life abandoned_life;
  friend bool operator==(const JobFacts&, const JobFacts&) = default;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_FACTS_H_
