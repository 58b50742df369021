// coordinator/core/facts.h
//
// What a worker says of itself. Every status is a complete view, so a lost,
// repeated or late one needs no handling beyond its counter (PROTOCOL 3). The
// convert folder checks its form, and the core judges what it claims.
#ifndef SKERRY_COORDINATOR_CORE_FACTS_H_
#define SKERRY_COORDINATOR_CORE_FACTS_H_

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/folder_id.h"
#include "base/ids.h"
#include "coordinator/core/types.h"
#include "job/data_facts.h"

namespace skerry::coordinator {

// A result of an attempt that is on the worker's disk.
struct StoredResult {
  Sequence sequence;
  Attempt attempt;
  // One XXH3-64 hash for each held span, in span order, over its encoded bytes.
  std::vector<uint64_t> hashes;
  double squared_norm = 0;
  friend bool operator==(const StoredResult&, const StoredResult&) = default;
};

// What has arrived from one member of the open attempt.
struct Progress {
  ReplicaId replica;
  uint64_t bytes = 0;
  uint64_t bytes_expected = 0;
  friend bool operator==(const Progress&, const Progress&) = default;
};

struct HeldBase {
  Sequence sequence;
  uint32_t span_begin = 0;
  std::vector<uint64_t> hashes;
  friend bool operator==(const HeldBase&, const HeldBase&) = default;
};

struct FragmentFacts {
  FragmentId fragment;
  // Spans [span_begin, span_begin + anchor_hashes.size()) are held.
  uint32_t span_begin = 0;
  Sequence applied;
  std::vector<uint64_t> anchor_hashes;
  Sequence stored_through;
  std::optional<StoredResult> stored;
  std::optional<Contribution> ready;
  std::vector<Progress> progress;
  std::vector<HeldBase> bases;
  Sequence first_result_kept;
  // Sequence of the base being fetched; unset when none is.
  Sequence pin;
  double owed_norm = 0;
  double lost_norm = 0;
  // The attempt whose commit made the state at `applied`; unset where it is not
  // known.
  Attempt applied_attempt = {};
  // The newest sequence of which a result is on disk, committed or not.
  Sequence last_result = {};
  // The attempt of that result; the highest one if several are on disk.
  Attempt last_result_attempt = {};
  friend bool operator==(const FragmentFacts&, const FragmentFacts&) = default;
};

struct EvaluationFact {
  Sequence sequence;
  double loss = 0;
  uint64_t samples = 0;
  friend bool operator==(const EvaluationFact&,
                         const EvaluationFact&) = default;
};

struct GeneratedFact {
  uint64_t request = 0;
  std::string text;
  std::string error;
  friend bool operator==(const GeneratedFact&, const GeneratedFact&) = default;
};

// What became of the newest order to save a checkpoint. Without hash and error
// it is being saved.
struct CheckpointFact {
  Sequence sequence;
  std::string sha256;
  uint64_t bytes = 0;
  std::string error;
  friend bool operator==(const CheckpointFact&,
                         const CheckpointFact&) = default;
};

// Totals since the process started.
struct SeatCounters {
  uint64_t bulk_sent_bytes = 0;
  uint64_t bulk_received_bytes = 0;
  double compute_s = 0;
  double stall_s = 0;
  uint64_t samples = 0;
  uint64_t rounds = 0;
  uint64_t trainer_restarts = 0;
  friend bool operator==(const SeatCounters&, const SeatCounters&) = default;
};

// What frames have shown of the link to another worker.
struct PeerLink {
  std::string address;     // where frames went
  double bytes_per_s = 0;  // above 0
  double rate_spread = 0;  // standard deviation over the mean
  double round_trip_s = 0;
  // How much longer a first answer takes in the median.
  double round_trip_spread_s = 0;
  friend bool operator==(const PeerLink&, const PeerLink&) = default;
};

// What a worker's machine has shown of a codec; both above 0.
struct CodecSpeed {
  std::string codec;
  double encode_elements_per_s = 0;
  double decode_elements_per_s = 0;
  friend bool operator==(const CodecSpeed&, const CodecSpeed&) = default;
};

// A job on a worker.
struct JobFacts {
  JobId job;
  // The life these facts belong to; unset before one.
  Life life;
  // The newest life that the seat has left by itself; unset when none.
  Life abandoned_life;
  SeatState state = SeatState::kStarting;
  std::string error;
  // 0 until the trainer has answered.
  uint64_t element_count = 0;
  uint64_t epoch_samples = 0;
  double flops_per_sample = 0;
  // Not there until the trainer has answered, and from older workers.
  std::optional<uint64_t> validation_samples;
  // 0 likewise.
  uint64_t initial_hash = 0;
  uint64_t layout_hash = 0;
  std::string trainer_trouble;
  std::vector<FragmentFacts> fragments;
  std::vector<EvaluationFact> evaluations;
  std::vector<GeneratedFact> generated;
  SeatCounters counters;
  std::vector<PeerLink> links;
  std::vector<CodecSpeed> codec_speeds;
  // It can send and take results in a codec of their own.
  bool result_codecs = false;
  std::optional<CheckpointFact> checkpoint;
  // As in JobOrders; 0: not said.
  uint64_t uid = 0;
  // Why the worker could not save to checkpoint.directory; empty when it can
  // or has not looked yet.
  std::string checkpoint_trouble;
  friend bool operator==(const JobFacts&, const JobFacts&) = default;
};

// What a worker tells of its machine. Memory decides which models it may have;
// the rest is for operators.
struct MachineFacts {
  int64_t unix_ms = 0;
  uint64_t state_free_bytes = 0;
  uint64_t state_bytes = 0;
  // Not there when nobody has compared.
  std::optional<int64_t> clock_ahead_ms;
  uint64_t memory_bytes = 0;  // 0: not known
  friend bool operator==(const MachineFacts&, const MachineFacts&) = default;
};

// A job's folder on a worker's disk. Two coordinators may have given two jobs
// the same number; the uid tells them apart.
struct StoredJobKey {
  JobId job;
  uint64_t uid = 0;
  friend auto operator<=>(const StoredJobKey&, const StoredJobKey&) = default;
};

using StoredKeys = std::span<const StoredJobKey>;

struct StoredJob {
  StoredJobKey key;
  uint64_t bytes = 0;
  int64_t ended_unix_ms = 0;  // by the worker's clock; 0: it has not ended
  friend bool operator==(const StoredJob&, const StoredJob&) = default;
};

// What a worker's disk has of jobs, and what it keeps of those that have ended.
struct StoredJobs {
  std::vector<StoredJob> all;
  absl::Duration keep_ended;
  uint64_t keep_ended_bytes = 0;
  friend bool operator==(const StoredJobs&, const StoredJobs&) = default;
};

struct StatusFacts {
  std::string release;
  PeerAddress self;
  std::string island;
  Boot boot;
  // Unset asks to be registered.
  Incarnation incarnation;
  // Rises with every Status of one boot.
  uint64_t counter = 0;
  std::vector<JobFacts> jobs;
  bool draining = false;
  // For people; empty when no preemption notice makes it drain.
  std::string drain_reason = {};
  MachineFacts machine;
  std::vector<job::DataFacts> data;
  // It answers Orders::data_paths with `data`.
  bool looks_at_data = false;
  // The ID of its state folder; unset from a worker of an older release.
  FolderId folder;
  // The first boot that this process drew; unset likewise.
  Boot process;
  // The highest number of the journal that this process was told or finds on
  // its disk.
  Revision seen;
  StoredJobs stored;
  friend bool operator==(const StatusFacts&, const StatusFacts&) = default;
};

// The highest number of the journal that the worker shows. Workers of older
// releases show what their jobs are about only.
inline Revision SeenBy(const StatusFacts& status) {
  uint64_t seen = status.seen.value();
  for (const JobFacts& job : status.jobs) {
    seen = std::max({seen, job.life.value(), job.abandoned_life.value()});
    for (const FragmentFacts& fragment : job.fragments) {
      if (!fragment.stored.has_value()) continue;
      seen = std::max(seen, fragment.stored->attempt.value());
    }
  }
  return Revision(seen);
}

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_FACTS_H_
