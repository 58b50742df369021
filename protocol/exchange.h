// protocol/exchange.h
//
// Defines an attempt of an exchange and what it commits (PROTOCOL 5).
#ifndef SKERRY_PROTOCOL_EXCHANGE_H_
#define SKERRY_PROTOCOL_EXCHANGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/ids.h"
#include "compression/codec_interface.h"
#include "protocol/contribution.h"
#include "protocol/peers.h"

namespace skerry::protocol {

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
  double total_weight = 0;  // above 0
  // The time left when the orders were asked for; never negative.
  absl::Duration deadline_in = {};
  std::string reason = {};

  friend bool operator==(const OpenExchange&, const OpenExchange&) = default;
};

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
  // How many replicas contributed. 0 in orders, and where an older release
  // wrote the snapshot.
  uint32_t members = 0;

  friend bool operator==(const CommittedEntry&,
                         const CommittedEntry&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_EXCHANGE_H_
