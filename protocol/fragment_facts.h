// protocol/fragment_facts.h
//
// Defines what a worker says about one fragment of a model.
#ifndef SKERRY_PROTOCOL_FRAGMENT_FACTS_H_
#define SKERRY_PROTOCOL_FRAGMENT_FACTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "protocol/contribution.h"

namespace skerry::protocol {

// A result of an open attempt that is on the worker's disk.
struct StoredResult {
  Sequence sequence;
  Attempt attempt;
  // One XXH3-64 hash for each held span, in span order, over its encoded bytes.
  std::vector<uint64_t> hashes;
  double squared_norm = 0;  // of the mean, over the held spans

  friend bool operator==(const StoredResult&, const StoredResult&) = default;
};

// What has arrived from one member of the open attempt.
struct Progress {
  ReplicaId replica;
  uint64_t bytes = 0;
  uint64_t bytes_expected = 0;  // an upper bound until the last part is known

  friend bool operator==(const Progress&, const Progress&) = default;
};

// Spans [span_begin, span_begin + hashes.size()) of one base, on disk.
struct HeldBase {
  Sequence sequence;
  uint32_t span_begin = 0;
  std::vector<uint64_t> hashes;
  // The attempt whose commit made it; unset where that is not known, and for
  // what a job began with or went back to.
  Attempt attempt = {};

  friend bool operator==(const HeldBase&, const HeldBase&) = default;
};

struct FragmentFacts {
  FragmentId fragment;
  // Spans [span_begin, span_begin + anchor_hashes.size()) are held.
  uint32_t span_begin = 0;
  Sequence applied;
  std::vector<uint64_t> anchor_hashes;  // of the held spans at `applied`
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
  // The attempt whose commit made the state at `applied`; unset as in HeldBase.
  Attempt applied_attempt = {};
  // The newest sequence of which a result is on disk, committed or not.
  Sequence last_result = {};
  // The attempt of that result; the highest one if several are on disk.
  Attempt last_result_attempt = {};

  friend bool operator==(const FragmentFacts&, const FragmentFacts&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_FRAGMENT_FACTS_H_
