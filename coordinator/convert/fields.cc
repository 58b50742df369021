#include "coordinator/convert/fields.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "job/limits.h"

namespace skerry::coordinator {

absl::Status CheckName(const std::string& name, absl::string_view field) {
  if (name.empty()) return BadField(field, "is missing");
  for (const char c : name) {
    if (c <= ' ' || c == 127)
      return BadField(field,
                      "has a character that "
                      "does not print");
  }
  return CheckText(name, kNameBytesMax, field);
}

absl::Status CheckFinite(double value, absl::string_view field) {
  if (std::isfinite(value)) return absl::OkStatus();
  return BadField(field, "is not finite");
}

absl::StatusOr<PeerAddress> PeerFromProto(const v1::PeerAddress& peer,
                                          absl::string_view field) {
  SKERRY_RETURN_IF_ERROR(
      CheckName(peer.worker(), absl::StrCat(field, ".worker")));
  SKERRY_RETURN_IF_ERROR(
      CheckName(peer.address(), absl::StrCat(field, ".address")));
  if (!peer.island_address().empty()) {
    SKERRY_RETURN_IF_ERROR(CheckName(peer.island_address(),
                                     absl::StrCat(field, ".island_address")));
  }
  return PeerAddress{peer.worker(), peer.address(), peer.island_address()};
}

void PeerToProto(const PeerAddress& peer, v1::PeerAddress* out) {
  out->set_worker(peer.worker);
  out->set_address(peer.address);
  out->set_island_address(peer.island_address);
}

absl::StatusOr<SpanHolder> HolderFromProto(const v1::SpanHolder& holder,
                                           absl::string_view field) {
  if (holder.span_begin() >= holder.span_end() ||
      holder.span_end() > job::kSpansMax) {
    return BadField(field, "has no spans, or more than 4096");
  }
  SKERRY_ASSIGN_OR_RETURN(
      PeerAddress peer,
      PeerFromProto(holder.peer(), absl::StrCat(field, ".peer")));
  return SpanHolder{holder.span_begin(), holder.span_end(), std::move(peer),
                    holder.stage()};
}

void HolderToProto(const SpanHolder& holder, v1::SpanHolder* out) {
  out->set_span_begin(holder.span_begin);
  out->set_span_end(holder.span_end);
  PeerToProto(holder.peer, out->mutable_peer());
  out->set_stage(holder.stage);
}

absl::StatusOr<std::vector<std::vector<data::SampleRange>>> RangeListsFromProto(
    const RangeListsProto& lists, int ranges_max, absl::string_view field) {
  std::vector<std::vector<data::SampleRange>> out;
  for (const v1::SampleRanges& one : lists) {
    SKERRY_ASSIGN_OR_RETURN(std::vector<data::SampleRange> ranges,
                            RangesFromProto(one.ranges(), ranges_max, field));
    out.push_back(std::move(ranges));
  }
  return out;
}

void RangeListsToProto(const std::vector<std::vector<data::SampleRange>>& lists,
                       RangeListsProto* out) {
  for (const auto& ranges : lists) {
    RangesToProto(ranges, out->Add()->mutable_ranges());
  }
}

absl::StatusOr<RoundScalars> ScalarsFromProto(const v1::RoundScalars& scalars,
                                              absl::string_view field) {
  SKERRY_RETURN_IF_ERROR(
      CheckFinite(scalars.loss(), absl::StrCat(field, ".loss")));
  SKERRY_RETURN_IF_ERROR(
      CheckFinite(scalars.delta_squared_norm(),
                  absl::StrCat(field, ".delta_squared_norm")));
  SKERRY_RETURN_IF_ERROR(
      CheckFinite(scalars.compute_s(), absl::StrCat(field, ".compute_s")));
  return RoundScalars{scalars.loss(), scalars.inner_steps(),
                      scalars.delta_squared_norm(), scalars.compute_s()};
}

void ScalarsToProto(const RoundScalars& scalars, v1::RoundScalars* out) {
  out->set_loss(scalars.loss);
  out->set_inner_steps(scalars.inner_steps);
  out->set_delta_squared_norm(scalars.delta_squared_norm);
  out->set_compute_s(scalars.compute_s);
}

absl::StatusOr<SeatCounters> CountersFromProto(const v1::SeatCounters& counters,
                                               absl::string_view field) {
  SKERRY_RETURN_IF_ERROR(CheckFinite(counters.compute_s(), field));
  SKERRY_RETURN_IF_ERROR(CheckFinite(counters.stall_s(), field));
  SeatCounters out;
  out.bulk_sent_bytes = counters.bulk_sent_bytes();
  out.bulk_received_bytes = counters.bulk_received_bytes();
  out.compute_s = counters.compute_s();
  out.stall_s = counters.stall_s();
  out.samples = counters.samples();
  out.rounds = counters.rounds();
  out.trainer_restarts = counters.trainer_restarts();
  return out;
}

void CountersToProto(const SeatCounters& counters, v1::SeatCounters* out) {
  out->set_bulk_sent_bytes(counters.bulk_sent_bytes);
  out->set_bulk_received_bytes(counters.bulk_received_bytes);
  out->set_compute_s(counters.compute_s);
  out->set_stall_s(counters.stall_s);
  out->set_samples(counters.samples);
  out->set_rounds(counters.rounds);
  out->set_trainer_restarts(counters.trainer_restarts);
}

void PieceToProto(const StatePiece& piece, v1::StatePiece* out) {
  out->set_hash(piece.hash);
  for (const std::string& address : piece.addresses) {
    out->add_addresses(address);
  }
}

absl::StatusOr<Contribution> ContributionFromProto(
    const v1::ReadyContribution& ready, int ranges_max,
    absl::string_view field) {
  if (ready.round() == 0) {
    return BadField(absl::StrCat(field, ".round"), "is missing");
  }
  // It also has to survive as fp32, in which sums are divided by it.
  if (!(ready.weight() > 0) ||
      ready.weight() > std::numeric_limits<float>::max()) {
    return BadField(absl::StrCat(field, ".weight"), "has to be positive");
  }
  Contribution out;
  out.round = Round(ready.round());
  out.base = Sequence(ready.base());
  out.weight = ready.weight();
  SKERRY_ASSIGN_OR_RETURN(out.ranges,
                          RangesFromProto(ready.ranges(), ranges_max,
                                          absl::StrCat(field, ".ranges")));
  if (out.ranges.empty()) {
    return BadField(absl::StrCat(field, ".ranges"), "is missing");
  }
  SKERRY_ASSIGN_OR_RETURN(
      out.scalars,
      ScalarsFromProto(ready.scalars(), absl::StrCat(field, ".scalars")));
  return out;
}

void ContributionToProto(const Contribution& contribution,
                         v1::ReadyContribution* out) {
  out->set_round(contribution.round.value());
  out->set_base(contribution.base.value());
  out->set_weight(contribution.weight);
  RangesToProto(contribution.ranges, out->mutable_ranges());
  ScalarsToProto(contribution.scalars, out->mutable_scalars());
}

absl::StatusOr<Member> MemberFromProto(const v1::Member& member,
                                       absl::string_view field) {
  if (member.replica() == 0 || member.life() == 0) {
    return BadField(field, "has no replica or life");
  }
  Member out;
  out.replica = ReplicaId(member.replica());
  out.life = Life(member.life());
  SKERRY_ASSIGN_OR_RETURN(
      out.contribution,
      ContributionFromProto(member.contribution(),
                            std::numeric_limits<int>::max(), field));
  for (const v1::SpanHolder& holder : member.holders()) {
    SKERRY_ASSIGN_OR_RETURN(SpanHolder one, HolderFromProto(holder, field));
    out.holders.push_back(std::move(one));
  }
  SKERRY_RETURN_IF_ERROR(
      CheckName(member.codec(), absl::StrCat(field, ".codec")));
  out.codec = member.codec();
  if (!member.result_codec().empty()) {
    SKERRY_RETURN_IF_ERROR(
        CheckName(member.result_codec(), absl::StrCat(field, ".result_codec")));
    out.result_codec = member.result_codec();
  }
  return out;
}

void MemberToProto(const Member& member, v1::Member* out) {
  out->set_replica(member.replica.value());
  out->set_life(member.life.value());
  ContributionToProto(member.contribution, out->mutable_contribution());
  for (const SpanHolder& holder : member.holders) {
    HolderToProto(holder, out->add_holders());
  }
  out->set_codec(member.codec);
  out->set_result_codec(member.result_codec);
}

absl::StatusOr<JobPhase> PhaseFromProto(v1::JobPhase phase,
                                        absl::string_view field) {
  switch (phase) {
    case v1::JOB_PHASE_PENDING:
      return JobPhase::kPending;
    case v1::JOB_PHASE_RUNNING:
      return JobPhase::kRunning;
    case v1::JOB_PHASE_SUCCEEDED:
      return JobPhase::kSucceeded;
    case v1::JOB_PHASE_FAILED:
      return JobPhase::kFailed;
    case v1::JOB_PHASE_CANCELLED:
      return JobPhase::kCancelled;
    default:
      return BadField(field,
                      absl::StrCat("is unknown: ", static_cast<int>(phase)));
  }
}

v1::JobPhase PhaseToProto(JobPhase phase) {
  switch (phase) {
    case JobPhase::kPending:
      return v1::JOB_PHASE_PENDING;
    case JobPhase::kRunning:
      return v1::JOB_PHASE_RUNNING;
    case JobPhase::kSucceeded:
      return v1::JOB_PHASE_SUCCEEDED;
    case JobPhase::kFailed:
      return v1::JOB_PHASE_FAILED;
    case JobPhase::kCancelled:
      return v1::JOB_PHASE_CANCELLED;
  }
  return v1::JOB_PHASE_UNSPECIFIED;
}

absl::StatusOr<WorkerIntent> IntentFromProto(v1::WorkerIntent intent,
                                             absl::string_view field) {
  switch (intent) {
    case v1::WORKER_INTENT_SERVE:
      return WorkerIntent::kServe;
    case v1::WORKER_INTENT_CORDON:
      return WorkerIntent::kCordon;
    case v1::WORKER_INTENT_DRAIN:
      return WorkerIntent::kDrain;
    default:
      return BadField(field,
                      absl::StrCat("is unknown: ", static_cast<int>(intent)));
  }
}

v1::WorkerIntent IntentToProto(WorkerIntent intent) {
  switch (intent) {
    case WorkerIntent::kServe:
      return v1::WORKER_INTENT_SERVE;
    case WorkerIntent::kCordon:
      return v1::WORKER_INTENT_CORDON;
    case WorkerIntent::kDrain:
      return v1::WORKER_INTENT_DRAIN;
  }
  return v1::WORKER_INTENT_UNSPECIFIED;
}

absl::StatusOr<Hops> HopsFromProto(v1::Hops hops, absl::string_view field) {
  if (hops == v1::HOPS_ONE) return Hops::kOne;
  if (hops == v1::HOPS_TWO) return Hops::kTwo;
  return BadField(field, absl::StrCat("is unknown: ", static_cast<int>(hops)));
}

v1::Hops HopsToProto(Hops hops) {
  return hops == Hops::kOne ? v1::HOPS_ONE : v1::HOPS_TWO;
}

}  // namespace skerry::coordinator
