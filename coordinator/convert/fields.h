// coordinator/convert/fields.h
//
// Converts values that several messages share between proto/skerry/v1 and the
// core.
#ifndef SKERRY_COORDINATOR_CONVERT_FIELDS_H_
#define SKERRY_COORDINATOR_CONVERT_FIELDS_H_

#include <google/protobuf/repeated_field.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/core/facts.h"
#include "coordinator/core/types.h"
#include "job/convert/fields.h"
#include "proto/skerry/v1/control.pb.h"
#include "proto/skerry/v1/types.pb.h"

namespace skerry::coordinator {

using job::BadField;
using job::CheckText;
using job::kNameBytesMax;
using job::kRangesMax;
using job::kTextBytesMax;
using job::RangesFromProto;
using job::RangesProto;
using job::RangesToProto;

// Every function that reads fails with InvalidArgument and names the field.

// A name is not empty, prints, and has at most kNameBytesMax bytes.
absl::Status CheckName(const std::string& name, absl::string_view field);
absl::Status CheckFinite(double value, absl::string_view field);

absl::StatusOr<PeerAddress> PeerFromProto(const v1::PeerAddress& peer,
                                          absl::string_view field);
void PeerToProto(const PeerAddress& peer, v1::PeerAddress* out);

absl::StatusOr<SpanHolder> HolderFromProto(const v1::SpanHolder& holder,
                                           absl::string_view field);
void HolderToProto(const SpanHolder& holder, v1::SpanHolder* out);

// One list of ranges for each fragment.
using RangeListsProto = google::protobuf::RepeatedPtrField<v1::SampleRanges>;
absl::StatusOr<std::vector<std::vector<data::SampleRange>>> RangeListsFromProto(
    const RangeListsProto& lists, int ranges_max, absl::string_view field);
void RangeListsToProto(const std::vector<std::vector<data::SampleRange>>& lists,
                       RangeListsProto* out);

absl::StatusOr<RoundScalars> ScalarsFromProto(const v1::RoundScalars& scalars,
                                              absl::string_view field);
void ScalarsToProto(const RoundScalars& scalars, v1::RoundScalars* out);

absl::StatusOr<SeatCounters> CountersFromProto(const v1::SeatCounters& counters,
                                               absl::string_view field);
void CountersToProto(const SeatCounters& counters, v1::SeatCounters* out);

void PieceToProto(const StatePiece& piece, v1::StatePiece* out);

// Requires a round, a positive weight and some samples, which every
// contribution of a live worker has.
absl::StatusOr<Contribution> ContributionFromProto(
    const v1::ReadyContribution& ready, int ranges_max,
    absl::string_view field);
void ContributionToProto(const Contribution& contribution,
                         v1::ReadyContribution* out);

absl::StatusOr<Member> MemberFromProto(const v1::Member& member,
                                       absl::string_view field);
void MemberToProto(const Member& member, v1::Member* out);

absl::StatusOr<JobPhase> PhaseFromProto(v1::JobPhase phase,
                                        absl::string_view field);
v1::JobPhase PhaseToProto(JobPhase phase);
absl::StatusOr<WorkerIntent> IntentFromProto(v1::WorkerIntent intent,
                                             absl::string_view field);
v1::WorkerIntent IntentToProto(WorkerIntent intent);
absl::StatusOr<Hops> HopsFromProto(v1::Hops hops, absl::string_view field);
v1::Hops HopsToProto(Hops hops);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CONVERT_FIELDS_H_
