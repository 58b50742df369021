// protocol/convert/fields.h
//
// Converts values that several messages share between proto/skerry/v1 and the
// types of protocol. Every function that reads fails with InvalidArgument and
// names the field.
#ifndef SKERRY_PROTOCOL_CONVERT_FIELDS_H_
#define SKERRY_PROTOCOL_CONVERT_FIELDS_H_

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "data/sample_ranges.h"
#include "job/convert/fields.h"
#include "proto/skerry/v1/control.pb.h"
#include "proto/skerry/v1/types.pb.h"
#include "protocol/contribution.h"
#include "protocol/exchange.h"
#include "protocol/job_phase.h"
#include "protocol/peers.h"
#include "protocol/seat_counters.h"

namespace skerry::protocol {

inline constexpr int kAnyNumber = std::numeric_limits<int>::max();

// A name is not empty, prints, and has at most job::kNameBytesMax bytes.
absl::Status CheckName(const std::string& name, absl::string_view field);
absl::Status CheckFinite(double value, absl::string_view field);

absl::StatusOr<PeerAddress> PeerFromProto(const v1::PeerAddress& peer,
                                          absl::string_view field);
void PeerToProto(const PeerAddress& peer, v1::PeerAddress* out);

absl::StatusOr<SpanHolder> HolderFromProto(const v1::SpanHolder& holder,
                                           absl::string_view field);
void HolderToProto(const SpanHolder& holder, v1::SpanHolder* out);

// Reads ranges with the checks and errors of job::RangesFromProto.
absl::StatusOr<data::RangeSet> RangeSetFromProto(const job::RangesProto& ranges,
                                                 int ranges_max,
                                                 absl::string_view field);
void RangeSetToProto(const data::RangeSet& ranges, job::RangesProto* out);

absl::StatusOr<RoundScalars> ScalarsFromProto(const v1::RoundScalars& scalars,
                                              absl::string_view field);
void ScalarsToProto(const RoundScalars& scalars, v1::RoundScalars* out);

absl::StatusOr<SeatCounters> CountersFromProto(const v1::SeatCounters& counters,
                                               absl::string_view field);
void CountersToProto(const SeatCounters& counters, v1::SeatCounters* out);

// At most a thousand years, which nothing needs.
absl::Duration DurationFromProto(uint64_t ms);

// Requires a round, a positive weight and some samples, which every
// contribution of a live worker has.
absl::StatusOr<Contribution> ContributionFromProto(
    const v1::ReadyContribution& ready, int ranges_max,
    absl::string_view field);
void ContributionToProto(const Contribution& contribution,
                         v1::ReadyContribution* out);

absl::StatusOr<Outcome> OutcomeFromProto(const v1::Outcome& outcome,
                                         absl::string_view field);
void OutcomeToProto(const Outcome& outcome, v1::Outcome* out);

absl::StatusOr<Member> MemberFromProto(const v1::Member& member,
                                       absl::string_view field);
void MemberToProto(const Member& member, v1::Member* out);

absl::StatusOr<CommittedEntry> CommittedFromProto(
    const v1::CommittedEntry& entry, absl::string_view field);
void CommittedToProto(const CommittedEntry& entry, v1::CommittedEntry* out);

absl::StatusOr<JobPhase> PhaseFromProto(v1::JobPhase phase,
                                        absl::string_view field);
v1::JobPhase PhaseToProto(JobPhase phase);
absl::StatusOr<Hops> HopsFromProto(v1::Hops hops, absl::string_view field);
v1::Hops HopsToProto(Hops hops);

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_CONVERT_FIELDS_H_
