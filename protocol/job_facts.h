// protocol/job_facts.h
//
// Defines what a worker says about one job. A fact that was reported once stays
// true for the worker's incarnation.
#ifndef SKERRY_PROTOCOL_JOB_FACTS_H_
#define SKERRY_PROTOCOL_JOB_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "protocol/fragment_facts.h"
#include "protocol/metrics.h"
#include "protocol/seat_counters.h"

namespace skerry::protocol {

enum class SeatState { kStarting, kRecovering, kActive, kResting, kFailed };

struct EvaluationFact {
  Sequence sequence;
  double loss = 0;
  uint64_t samples = 0;

  friend bool operator==(const EvaluationFact&,
                         const EvaluationFact&) = default;
};

struct GeneratedFact {
  uint64_t request = 0;
  std::string text;   // bytes; a byte-level model may end inside a character
  std::string error;  // empty: none

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

// What frames have shown of the link to another worker.
struct PeerLink {
  // Its name. Empty when a worker of an older release has named the address
  // only.
  std::string worker;
  double bytes_per_s = 0;  // above 0
  double rate_spread = 0;  // standard deviation over the mean
  double round_trip_s = 0;
  // How much longer a first answer takes in the median.
  double round_trip_spread_s = 0;
  // Where frames go: coordinators of older releases know the link by it.
  std::string address = {};

  friend bool operator==(const PeerLink&, const PeerLink&) = default;
};

// What a worker's machine has shown of a codec; both above 0.
struct CodecSpeed {
  std::string codec;
  double encode_elements_per_s = 0;
  double decode_elements_per_s = 0;

  friend bool operator==(const CodecSpeed&, const CodecSpeed&) = default;
};

struct JobFacts {
  JobId job;
  // The life these facts belong to; unset before one.
  Life life;
  // The newest life that the seat has left by itself, which the coordinator
  // ends; unset when none.
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
  // The first element that is averaged (PROTOCOL 4.5); 0 when none is, and
  // likewise.
  uint64_t average_begin = 0;
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
  // Means over the samples of the last round, as the trainer names them.
  Metrics metrics;
  // Its trainer computes with no other: the worker is a replica alone.
  bool trains_alone = false;
  // It has the job's data set and gives it to other workers of the job.
  bool has_data = false;
  // The hash of the initial values whose state it holds, in a job that may
  // begin with different values (PROTOCOL 5.11). 0: it holds none, or does not
  // know.
  uint64_t begun_with = 0;

  friend bool operator==(const JobFacts&, const JobFacts&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_JOB_FACTS_H_
