// planner/exchange_time.h
//
// Predicts how long an exchange takes.
//
// LinkTime counts the bytes that cross the busiest link, as if results of the
// first spans crossed while others are still contributed. Owners, deadlines and
// plans of jobs follow from it.
//
// TimesOf also counts encoding and decoding. Codecs follow from it. It
// simplifies in three ways:
// - Members share links, so what one sends delays another. A member is charged
//   for what would happen if all others sent with its codec, so that its part
//   depends on its own codec alone. The exchange is as long as that of its
//   slowest member.
// - Encoding, sending and decoding of one member come one after the other,
//   although spans overlap them. That a small payload waits at a receiver
//   behind a large one is left out. It adds less than 15 % in the exchanges
//   that the test simulates.
// - The second hop begins when the whole first one has ended, although an owner
//   waits only for the contributions to its own spans. If members differ much,
//   the real exchange is shorter (coordinator/core/rules/codec_cap_test.cc).
#ifndef SKERRY_PLANNER_EXCHANGE_TIME_H_
#define SKERRY_PLANNER_EXCHANGE_TIME_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/ids.h"

namespace skerry::planner {

// What was measured between a member and the others.
struct LinkFacts {
  double up_bytes_per_s = 0.0;
  double down_bytes_per_s = 0.0;
  // Standard deviation of the rates over their mean. Plans count on
  // rate / (1 + spread).
  double rate_spread = 0.0;
  absl::Duration round_trip;
  // Plans count on round_trip + spread.
  absl::Duration round_trip_spread;
};

// How fast a machine runs a codec, relative to the machine on which the codec's
// cost was measured. A machine of speed 2 takes half the time.
struct CodecSpeed {
  double encode = 1.0;
  double decode = 1.0;
};

struct ExchangeMember {
  ReplicaId replica;
  LinkFacts link;
  double weight = 1.0;          // samples of the contribution
  uint64_t owned_elements = 0;  // whose results this member sends
  // The speed of its machine by codec. Codecs beyond the end have speed 1.
  std::vector<CodecSpeed> codec_speeds;
};

struct ExchangeShape {
  uint64_t elements = 0;  // of the fragment
  int hops = 2;           // 1: everyone sums; then nothing is owned
  std::vector<ExchangeMember> members;
};

// What a codec costs on a machine of speed 1.
struct CodecCost {
  double bytes_per_element = 0.0;
  double encode_elements_per_s = 0.0;
  double decode_elements_per_s = 0.0;
};

// Errors: InvalidArgument, naming the replica, when there is no member, a rate
// or speed is not positive, a spread or delay is negative, or members do not
// own all elements of a two-hop exchange.
absl::Status ValidateShape(const ExchangeShape& shape);

// Sets what the members of a two-hop exchange own: span i is owners[i]'s.
//
// Requires: as many owners as spans, each of them a member.
void SetOwners(std::span<const uint64_t> span_elements,
               std::span<const uint32_t> owners, ExchangeShape& shape);

// Seconds from the start of a hop until everyone has decoded what `member` sent
// in it.
struct HopSeconds {
  double first = 0.0;   // contributions
  double second = 0.0;  // results
};

// `codec` is the codec's index in members' speeds.
//
// Requires: ValidateShape(shape) is OK and member < shape.members.size().
HopSeconds TimesOf(const ExchangeShape& shape, size_t member, size_t codec,
                   const CodecCost& cost);

// The slower way of a link, in bytes a second as plans count on it.
double RateOf(const LinkFacts& link);

// Seconds for which the slower way of the member's link is in use when all send
// `bytes_per_element`. With M bytes, G members and a share s of it owned, that
// is M (G - 1) each way in one hop, and M (1 + (G - 2) s) in two: M (1 - s) of
// contributions out and results in, M (G - 1) s of results out and
// contributions in.
//
// Requires: member < shape.members.size(), and the rates of its link are above
// 0.
double LinkSeconds(const ExchangeShape& shape, size_t member,
                   double bytes_per_element);

// The longest LinkSeconds of a member, who sends `bytes_per_element[member]`,
// and the delay of each hop.
//
// Requires: as LinkSeconds, for every member, each with its bytes_per_element.
absl::Duration LinkTime(const ExchangeShape& shape,
                        std::span<const double> bytes_per_element);

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_EXCHANGE_TIME_H_
