#include "protocol/convert/fields.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "compression/codec.h"
#include "job/limits.h"

namespace skerry::protocol {

using job::BadField;

namespace {

constexpr int kMoreAddressesMax = 7;

absl::StatusOr<compression::CodecId> CodecFromProto(const std::string& name,
                                                    absl::string_view field) {
  const auto codec = compression::ParseCodecName(name);
  if (!codec.ok()) return BadField(field, codec.status().message());
  return *codec;
}

}  // namespace

absl::Status CheckName(const std::string& name, absl::string_view field) {
  if (name.empty()) return BadField(field, "is missing");
  for (const char c : name) {
    if (c <= ' ' || c == 127)
      return BadField(field,
                      "has a character that "
                      "does not print");
  }
  return job::CheckText(name, job::kNameBytesMax, field);
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
  if (peer.more_addresses_size() > kMoreAddressesMax) {
    return BadField(absl::StrCat(field, ".more_addresses"),
                    absl::StrCat("lists more than ", kMoreAddressesMax));
  }
  for (const std::string& address : peer.more_addresses()) {
    SKERRY_RETURN_IF_ERROR(
        CheckName(address, absl::StrCat(field, ".more_addresses")));
  }
  const auto& more = peer.more_addresses();
  return PeerAddress{peer.worker(),         peer.address(),
                     peer.island_address(), peer.outbound_only(),
                     peer.relay(),          {more.begin(), more.end()}};
}

void PeerToProto(const PeerAddress& peer, v1::PeerAddress* out) {
  out->set_worker(peer.worker);
  out->set_address(peer.address);
  out->set_island_address(peer.island_address);
  out->set_outbound_only(peer.outbound_only);
  out->set_relay(peer.relay);
  for (const std::string& one : peer.more_addresses) {
    out->add_more_addresses(one);
  }
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

absl::StatusOr<data::RangeSet> RangeSetFromProto(const job::RangesProto& ranges,
                                                 int ranges_max,
                                                 absl::string_view field) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<data::SampleRange> all,
                          job::RangesFromProto(ranges, ranges_max, field));
  return data::RangeSet(all);
}

void RangeSetToProto(const data::RangeSet& ranges, job::RangesProto* out) {
  job::RangesToProto(ranges.ranges(), out);
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
  SKERRY_RETURN_IF_ERROR(
      CheckFinite(scalars.own_share(), absl::StrCat(field, ".own_share")));
  SKERRY_RETURN_IF_ERROR(
      CheckFinite(scalars.late_steps(), absl::StrCat(field, ".late_steps")));
  return RoundScalars{
      scalars.loss(),      scalars.inner_steps(), scalars.delta_squared_norm(),
      scalars.compute_s(), scalars.no_loss(),     scalars.own_share(),
      scalars.late_steps()};
}

void ScalarsToProto(const RoundScalars& scalars, v1::RoundScalars* out) {
  out->set_loss(scalars.loss);
  out->set_inner_steps(scalars.inner_steps);
  out->set_delta_squared_norm(scalars.delta_squared_norm);
  out->set_compute_s(scalars.compute_s);
  out->set_no_loss(scalars.no_loss);
  out->set_own_share(scalars.own_share);
  out->set_late_steps(scalars.late_steps);
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

absl::Duration DurationFromProto(uint64_t ms) {
  constexpr uint64_t kMsMax = uint64_t{1000} * 365 * 24 * 3600 * 1000;
  return absl::Milliseconds(std::min(ms, kMsMax));
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
                          RangeSetFromProto(ready.ranges(), ranges_max,
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
  RangeSetToProto(contribution.ranges, out->mutable_ranges());
  ScalarsToProto(contribution.scalars, out->mutable_scalars());
}

absl::StatusOr<Outcome> OutcomeFromProto(const v1::Outcome& outcome,
                                         absl::string_view field) {
  Outcome out{Round(outcome.round()), Outcome::Kind::kPending,
              Attempt(outcome.attempt()), Sequence(outcome.sequence())};
  switch (outcome.kind()) {
    case v1::Outcome::KIND_PENDING:
      return out;
    case v1::Outcome::KIND_DROPPED:
      out.kind = Outcome::Kind::kDropped;
      return out;
    case v1::Outcome::KIND_COMMITTED:
      out.kind = Outcome::Kind::kCommitted;
      if (!out.attempt.is_set() || !out.sequence.is_set()) {
        return BadField(field, "is committed without attempt or sequence");
      }
      return out;
    default:
      return BadField(absl::StrCat(field, ".kind"),
                      absl::StrCat("is unknown: ", outcome.kind()));
  }
}

void OutcomeToProto(const Outcome& outcome, v1::Outcome* out) {
  out->set_round(outcome.round.value());
  switch (outcome.kind) {
    case Outcome::Kind::kPending:
      out->set_kind(v1::Outcome::KIND_PENDING);
      break;
    case Outcome::Kind::kCommitted:
      out->set_kind(v1::Outcome::KIND_COMMITTED);
      break;
    case Outcome::Kind::kDropped:
      out->set_kind(v1::Outcome::KIND_DROPPED);
      break;
  }
  out->set_attempt(outcome.attempt.value());
  out->set_sequence(outcome.sequence.value());
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
      ContributionFromProto(member.contribution(), kAnyNumber, field));
  for (const v1::SpanHolder& holder : member.holders()) {
    SKERRY_ASSIGN_OR_RETURN(SpanHolder one, HolderFromProto(holder, field));
    out.holders.push_back(std::move(one));
  }
  SKERRY_ASSIGN_OR_RETURN(
      out.codec, CodecFromProto(member.codec(), absl::StrCat(field, ".codec")));
  if (!member.result_codec().empty()) {
    SKERRY_ASSIGN_OR_RETURN(
        out.result_codec, CodecFromProto(member.result_codec(),
                                         absl::StrCat(field, ".result_codec")));
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
  out->set_codec(std::string(compression::CodecName(member.codec)));
  if (member.result_codec.has_value()) {
    out->set_result_codec(
        std::string(compression::CodecName(*member.result_codec)));
  }
}

absl::StatusOr<CommittedEntry> CommittedFromProto(
    const v1::CommittedEntry& entry, absl::string_view field) {
  CommittedEntry out;
  out.sequence = Sequence(entry.sequence());
  out.attempt = Attempt(entry.attempt());
  out.hashes.assign(entry.hashes().begin(), entry.hashes().end());
  out.total_weight = entry.total_weight();
  out.samples_committed = entry.samples_committed();
  out.state = entry.state();
  out.members = entry.members();
  SKERRY_ASSIGN_OR_RETURN(
      out.scalars,
      ScalarsFromProto(entry.scalars(), absl::StrCat(field, ".scalars")));
  return out;
}

void CommittedToProto(const CommittedEntry& entry, v1::CommittedEntry* out) {
  out->set_sequence(entry.sequence.value());
  out->set_attempt(entry.attempt.value());
  out->mutable_hashes()->Assign(entry.hashes.begin(), entry.hashes.end());
  out->set_total_weight(entry.total_weight);
  out->set_samples_committed(entry.samples_committed);
  ScalarsToProto(entry.scalars, out->mutable_scalars());
  out->set_state(entry.state);
  out->set_members(entry.members);
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

absl::StatusOr<Hops> HopsFromProto(v1::Hops hops, absl::string_view field) {
  if (hops == v1::HOPS_ONE) return Hops::kOne;
  if (hops == v1::HOPS_TWO) return Hops::kTwo;
  return BadField(field, absl::StrCat("is unknown: ", static_cast<int>(hops)));
}

v1::Hops HopsToProto(Hops hops) {
  return hops == Hops::kOne ? v1::HOPS_ONE : v1::HOPS_TWO;
}

}  // namespace skerry::protocol
