// coordinator/core/log/state_hash.h
//
// Hashes durable state: two coordinators with the same fold have the same hash.
// Order matters, so every class feeds its parts in a fixed order.
#ifndef SKERRY_COORDINATOR_CORE_LOG_STATE_HASH_H_
#define SKERRY_COORDINATOR_CORE_LOG_STATE_HASH_H_

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/hash.h"
#include "base/ids.h"
#include "data/sample_ranges.h"
#include "protocol/contribution.h"
#include "protocol/peers.h"

namespace skerry::coordinator {

using protocol::RoundScalars;
using protocol::SpanHolder;

class StateHasher {
 public:
  void Add(uint64_t value) { hash_ = CombineHash(hash_, value); }
  void Add(double value) { Add(std::bit_cast<uint64_t>(value)); }
  template <typename Tag>
  void Add(StrongId<Tag> id) {
    Add(id.value());
  }
  void Add(std::string_view text) {
    Add(uint64_t{text.size()});
    Add(Hash64(std::as_bytes(std::span(text))));
  }
  void Add(std::span<const data::SampleRange> ranges) {
    Add(uint64_t{ranges.size()});
    for (const data::SampleRange& range : ranges) {
      Add(range.begin);
      Add(range.end);
    }
  }
  void Add(const data::RangeSet& set) { Add(set.ranges()); }
  void Add(const RoundScalars& scalars) {
    Add(scalars.loss);
    Add(scalars.inner_steps);
    Add(scalars.delta_squared_norm);
    Add(scalars.compute_s);
    // Journals of older releases have hashes without these.
    if (scalars.no_loss) Add(uint64_t{1});
    if (scalars.own_share != 0) Add(scalars.own_share);
    if (scalars.late_steps != 0) Add(scalars.late_steps);
  }
  void Add(const SpanHolder& holder) {
    Add(uint64_t{holder.span_begin});
    Add(uint64_t{holder.span_end});
    Add(std::string_view(holder.peer.worker));
    Add(std::string_view(holder.peer.address));
    Add(std::string_view(holder.peer.island_address));
    // Releases that dialled every worker added nothing here.
    if (holder.peer.outbound_only) Add(std::string_view("outbound only"));
    if (holder.peer.relay) Add(std::string_view("relay"));
    Add(uint64_t{holder.stage});
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_LOG_STATE_HASH_H_
