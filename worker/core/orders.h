// worker/core/orders.h
//
// What the coordinator tells a worker about one job, as checked values. Orders
// are a complete view: losing, repeating or reordering them needs no handling
// beyond the revision (PROTOCOL 1 and 3).
#ifndef SKERRY_WORKER_CORE_ORDERS_H_
#define SKERRY_WORKER_CORE_ORDERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "compression/codec.h"
#include "data/sample_ranges.h"
#include "optimizer/outer/outer.h"

namespace skerry::worker {

struct PeerAddress {
  std::string worker;
  std::string address;         // host:port for workers of other islands
  std::string island_address;  // host:port inside the island; never empty
  friend bool operator==(const PeerAddress&, const PeerAddress&) = default;
};

// Spans [begin, end) of the fragment and who holds them.
struct SpanHolder {
  uint32_t begin = 0;
  uint32_t end = 0;
  PeerAddress peer;
  bool Holds(uint32_t span) const { return begin <= span && span < end; }
  friend bool operator==(const SpanHolder&, const SpanHolder&) = default;
};

struct RoundScalars {
  double loss = 0;  // mean over the samples, nats a token
  uint64_t inner_steps = 0;
  double delta_squared_norm = 0;
  double compute_s = 0;
  friend bool operator==(const RoundScalars&, const RoundScalars&) = default;
};

// What one round of one life produced. Immutable from ready to its outcome.
struct Contribution {
  Round round;
  Sequence base;      // of the anchor that the round started from
  double weight = 0;  // samples
  data::RangeSet ranges;
  RoundScalars scalars;
  friend bool operator==(const Contribution&, const Contribution&) = default;
};

// What a worker needs of the job's description; the same for all workers.
struct JobSettings {
  optimizer::OuterOptions outer;
  double beta = 0;  // error-feedback factor in [0, 1]
  uint64_t samples = 0;
  uint32_t batch_samples = 1;  // of one worker in one inner step
  uint32_t tau = 1;
  // The codec with the largest frames that a member may use, for results too.
  // An attempt says which codec is used.
  compression::CodecId codec = compression::CodecId::kInt8Block;
  uint32_t spans = 64;     // of a fragment
  uint32_t fragments = 1;  // tau is a multiple of it
  // Whether the state that the job starts from, or has gone back to, is that of
  // a checkpoint, of which the worker has made a base, and not the trainer's
  // initial values.
  bool from_checkpoint = false;
  uint64_t samples_before = 0;  // that state 0 has taken in
  // By fragment, the sequence whose state is the trainer's initial values.
  // Empty: 0. Set after the job has gone back to them.
  std::vector<Sequence> begins_at = {};
  // States at multiples of this are stored as bases, so that they can be saved.
  // 0: none are.
  uint64_t checkpoint_every = 0;
  friend bool operator==(const JobSettings&, const JobSettings&) = default;
};

enum class JobPhase { kPending, kRunning, kSucceeded, kFailed, kCancelled };
inline bool IsOver(JobPhase phase) { return phase >= JobPhase::kSucceeded; }

struct CommittedEntry {
  Sequence sequence;
  Attempt attempt;
  std::vector<uint64_t> hashes;  // of every span's result, in span order
  double total_weight = 0;
  uint64_t samples_committed = 0;  // of the fragment, this sequence included
  RoundScalars scalars;
  // Commits of all fragments up to this one; 0 with one fragment, where it is
  // the sequence.
  uint64_t state = 0;
  friend bool operator==(const CommittedEntry&,
                         const CommittedEntry&) = default;
};

struct Member {
  ReplicaId replica;
  Life life;
  Contribution contribution;
  std::vector<SpanHolder> holders;  // together: every span once
  compression::CodecId codec = compression::CodecId::kRawF32;
  // The codec of the results of the spans that it owns. Unset: the same as
  // `codec`.
  std::optional<compression::CodecId> result_codec = {};

  // The codec of this member's frames that carry contributions, and of those
  // that carry results.
  compression::CodecId OfContributions() const { return codec; }
  compression::CodecId OfResults() const {
    return result_codec.value_or(codec);
  }
  friend bool operator==(const Member&, const Member&) = default;
};

enum class Hops { kOne, kTwo };

struct OpenExchange {
  Sequence sequence;
  Attempt attempt;
  std::vector<Member> members;   // in summation order; never empty
  std::vector<uint32_t> owners;  // member index of each span's owner
  Hops hops = Hops::kTwo;
  double total_weight = 0;  // > 0
  friend bool operator==(const OpenExchange&, const OpenExchange&) = default;
};

struct Outcome {
  enum class Kind { kPending, kCommitted, kDropped };
  Round round;  // of the worker's current life
  Kind kind = Kind::kPending;
  Attempt attempt;    // of kCommitted
  Sequence sequence;  // of kCommitted
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// A worker that can serve spans that this one lacks.
struct Source {
  SpanHolder holder;
  // Newest base there; sequence 0 with no hashes: none but the initial state.
  Sequence base;
  std::vector<uint64_t> base_hashes;  // from holder.begin
  Sequence results_from;              // 0: no results
  Sequence results_through;
  friend bool operator==(const Source&, const Source&) = default;
};

struct EvaluationOrder {
  Sequence sequence;
  uint64_t samples_max = 0;
  friend bool operator==(const EvaluationOrder&,
                         const EvaluationOrder&) = default;
};

struct GenerateOrder {
  uint64_t request = 0;
  std::string prompt;
  uint32_t tokens = 0;
  double temperature = 0;
  uint64_t seed = 0;
  friend bool operator==(const GenerateOrder&, const GenerateOrder&) = default;
};

// What the coordinator says about one fragment of the model.
struct FragmentOrders {
  Sequence newest;
  // Entries after the worker's `applied`, oldest first, without gaps.
  std::vector<CommittedEntry> committed;
  std::optional<OpenExchange> open;
  std::optional<Outcome> outcome;
  Sequence keep_from;
  std::vector<Source> sources;
  // Other replicas wait for this one in this fragment, while it waits for them
  // in another.
  bool wanted = false;
  friend bool operator==(const FragmentOrders&,
                         const FragmentOrders&) = default;
};

struct JobOrders {
  JobId job;
  JobSettings settings;
  JobPhase phase = JobPhase::kPending;
  Epoch epoch;
  Life life;  // unset: recover, and wait to be admitted
  ReplicaId replica;
  // The replica's workers by rank; rank 0 is the head. May be empty before the
  // worker has a place.
  std::vector<SpanHolder> holders;
  data::RangeSet granted;
  // The worker starts no round. It delivers what it owes, and the life goes on.
  bool paused = false;
  // No sample is free for this life, so that what was trained on is delivered.
  bool nothing_left = false;
  // One for each of the settings' fragments, in order.
  std::vector<FragmentOrders> fragments = std::vector<FragmentOrders>(1);
  std::vector<EvaluationOrder> evaluations;
  std::vector<GenerateOrder> generate;
  // Number of elements in the model. 0: the coordinator does not know it.
  uint64_t element_count = 0;
  friend bool operator==(const JobOrders&, const JobOrders&) = default;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_ORDERS_H_
