#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "compression/frame.h"
#include "worker/convert/control.h"
#include "worker/convert/fields.h"

namespace skerry::worker {
namespace {

constexpr int kHoldersMax = 4096;
constexpr int kCommittedMax = 256;
constexpr int kMembersMax = 64;
constexpr int kSourcesMax = 65536;
constexpr int kTasksMax = 1024;

absl::StatusOr<PeerAddress> PeerFromProto(const v1::PeerAddress& peer,
                                          absl::string_view field) {
  if (peer.worker().empty() || peer.address().empty()) {
    return BadField(field, "a peer without name or address");
  }
  return PeerAddress{
      peer.worker(), peer.address(),
      peer.island_address().empty() ? peer.address() : peer.island_address()};
}

absl::StatusOr<SpanHolder> HolderFromProto(const v1::SpanHolder& holder,
                                           absl::string_view field) {
  if (holder.span_begin() >= holder.span_end() ||
      holder.span_end() > compression::kFrameSpansMax) {
    return BadField(field, "bad spans");
  }
  SKERRY_ASSIGN_OR_RETURN(PeerAddress peer,
                          PeerFromProto(holder.peer(), field));
  return SpanHolder{holder.span_begin(), holder.span_end(), std::move(peer)};
}

// A replica's holders, in order and without gaps from span 0.
template <typename Repeated>
absl::StatusOr<std::vector<SpanHolder>> HoldersFromProto(
    const Repeated& holders, absl::string_view field) {
  if (holders.size() > kHoldersMax) return BadField(field, "too many");
  std::vector<SpanHolder> all;
  uint32_t next = 0;
  for (const v1::SpanHolder& holder : holders) {
    SKERRY_ASSIGN_OR_RETURN(SpanHolder one, HolderFromProto(holder, field));
    if (one.begin != next) return BadField(field, "spans overlap or miss");
    next = one.end;
    all.push_back(std::move(one));
  }
  return all;
}

absl::StatusOr<JobPhase> PhaseFromProto(v1::JobPhase phase) {
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
      return BadField("phase", absl::StrCat("unknown: ", phase));
  }
}

absl::StatusOr<CommittedEntry> EntryFromProto(const v1::CommittedEntry& entry) {
  constexpr absl::string_view kField = "committed";
  if (entry.sequence() == 0 || entry.attempt() == 0) {
    return BadField(kField, "without sequence or attempt");
  }
  if (entry.hashes().empty() || static_cast<uint32_t>(entry.hashes_size()) >
                                    compression::kFrameSpansMax) {
    return BadField(kField, "bad count of hashes");
  }
  const float weight = static_cast<float>(entry.total_weight());
  if (!(weight > 0.0f) || !std::isfinite(weight)) {
    return BadField(kField, "bad total_weight");
  }
  CommittedEntry out;
  out.sequence = Sequence(entry.sequence());
  out.attempt = Attempt(entry.attempt());
  out.hashes.assign(entry.hashes().begin(), entry.hashes().end());
  out.total_weight = entry.total_weight();
  out.samples_committed = entry.samples_committed();
  out.state = entry.state();
  SKERRY_ASSIGN_OR_RETURN(out.scalars,
                          ScalarsFromProto(entry.scalars(), "committed"));
  return out;
}

absl::StatusOr<Member> MemberFromProto(const v1::Member& member) {
  constexpr absl::string_view kField = "open.members";
  const v1::ReadyContribution& ready = member.contribution();
  if (member.replica() == 0 || member.life() == 0 || ready.round() == 0) {
    return BadField(kField, "without replica, life or round");
  }
  if (!std::isfinite(ready.weight()) || ready.weight() < 0) {
    return BadField(kField, "bad weight");
  }
  Member out;
  out.replica = ReplicaId(member.replica());
  out.life = Life(member.life());
  out.contribution.round = Round(ready.round());
  out.contribution.base = Sequence(ready.base());
  out.contribution.weight = ready.weight();
  SKERRY_ASSIGN_OR_RETURN(out.contribution.ranges,
                          RangesFromProto(ready.ranges(), kField));
  SKERRY_ASSIGN_OR_RETURN(out.contribution.scalars,
                          ScalarsFromProto(ready.scalars(), kField));
  SKERRY_ASSIGN_OR_RETURN(out.holders,
                          HoldersFromProto(member.holders(), kField));
  SKERRY_ASSIGN_OR_RETURN(out.codec,
                          compression::ParseCodecName(member.codec()));
  if (!member.result_codec().empty()) {
    SKERRY_ASSIGN_OR_RETURN(out.result_codec,
                            compression::ParseCodecName(member.result_codec()));
  }
  return out;
}

absl::StatusOr<OpenExchange> OpenFromProto(const v1::OpenExchange& open) {
  if (open.sequence() == 0 || open.attempt() == 0) {
    return BadField("open", "without sequence or attempt");
  }
  if (open.members().empty() || open.members_size() > kMembersMax) {
    return BadField("open.members", "none or too many");
  }
  OpenExchange out;
  out.sequence = Sequence(open.sequence());
  out.attempt = Attempt(open.attempt());
  for (const v1::Member& member : open.members()) {
    SKERRY_ASSIGN_OR_RETURN(Member one, MemberFromProto(member));
    for (const Member& other : out.members) {
      if (other.replica == one.replica) {
        return BadField("open.members", "a replica twice");
      }
    }
    out.members.push_back(std::move(one));
  }
  for (const uint32_t owner : open.owners()) {
    if (owner >= out.members.size()) return BadField("open.owners", "unknown");
    out.owners.push_back(owner);
  }
  switch (open.hops()) {
    case v1::HOPS_ONE:
      out.hops = Hops::kOne;
      break;
    case v1::HOPS_TWO:
      out.hops = Hops::kTwo;
      break;
    default:
      return BadField("open.hops", absl::StrCat("unknown: ", open.hops()));
  }
  out.total_weight = open.total_weight();
  const float weight = static_cast<float>(out.total_weight);
  if (!(weight > 0.0f) || !std::isfinite(weight)) {
    return BadField("open.total_weight", "has to be positive");
  }
  return out;
}

absl::StatusOr<std::optional<Outcome>> OutcomeFromProto(
    const v1::Outcome& outcome) {
  Outcome out;
  out.round = Round(outcome.round());
  out.attempt = Attempt(outcome.attempt());
  out.sequence = Sequence(outcome.sequence());
  switch (outcome.kind()) {
    case v1::Outcome::KIND_PENDING:
      out.kind = Outcome::Kind::kPending;
      return out;
    case v1::Outcome::KIND_DROPPED:
      out.kind = Outcome::Kind::kDropped;
      return out;
    case v1::Outcome::KIND_COMMITTED:
      out.kind = Outcome::Kind::kCommitted;
      if (!out.attempt.is_set() || !out.sequence.is_set()) {
        return BadField("outcome", "committed without attempt or sequence");
      }
      return out;
    default:
      return BadField("outcome.kind",
                      absl::StrCat("unknown: ", outcome.kind()));
  }
}

absl::StatusOr<Source> SourceFromProto(const v1::Source& source) {
  Source out;
  SKERRY_ASSIGN_OR_RETURN(out.holder,
                          HolderFromProto(source.holder(), "sources"));
  out.base = Sequence(source.base());
  out.base_hashes.assign(source.base_hashes().begin(),
                         source.base_hashes().end());
  if (out.base_hashes.size() > out.holder.end - out.holder.begin) {
    return BadField("sources", "more base_hashes than spans");
  }
  out.results_from = Sequence(source.results_from());
  out.results_through = Sequence(source.results_through());
  return out;
}

absl::StatusOr<FragmentOrders> FragmentFromProto(
    const v1::FragmentOrders& fragment) {
  FragmentOrders out;
  if (fragment.committed_size() > kCommittedMax ||
      fragment.sources_size() > kSourcesMax) {
    return BadField("fragments", "too many entries or sources");
  }
  out.newest = Sequence(fragment.newest());
  out.keep_from = Sequence(fragment.keep_from());
  for (const v1::CommittedEntry& entry : fragment.committed()) {
    SKERRY_ASSIGN_OR_RETURN(CommittedEntry one, EntryFromProto(entry));
    if (!out.committed.empty() &&
        Next(out.committed.back().sequence) != one.sequence) {
      return BadField("committed", "a gap in the sequences");
    }
    out.committed.push_back(std::move(one));
  }
  if (fragment.has_open()) {
    SKERRY_ASSIGN_OR_RETURN(out.open, OpenFromProto(fragment.open()));
  }
  if (fragment.has_outcome()) {
    SKERRY_ASSIGN_OR_RETURN(out.outcome, OutcomeFromProto(fragment.outcome()));
  }
  for (const v1::Source& source : fragment.sources()) {
    SKERRY_ASSIGN_OR_RETURN(Source one, SourceFromProto(source));
    out.sources.push_back(std::move(one));
  }
  out.wanted = fragment.wanted();
  return out;
}

// Those that are not named have nothing new.
absl::Status FragmentsFromProto(const v1::JobOrders& orders, JobOrders* out) {
  const uint32_t count = out->settings.fragments;
  out->fragments.assign(count, {});
  std::vector<bool> named(count, false);
  for (const v1::FragmentOrders& fragment : orders.fragments()) {
    const uint32_t index = fragment.fragment();
    if (index >= count || named[index]) {
      return BadField("fragments",
                      absl::StrCat("names ", index, " twice, or of ", count));
    }
    named[index] = true;
    SKERRY_ASSIGN_OR_RETURN(out->fragments[index], FragmentFromProto(fragment));
  }
  return absl::OkStatus();
}

absl::Status TasksFromProto(const v1::JobOrders& orders, JobOrders* out) {
  if (orders.evaluations_size() > kTasksMax ||
      orders.generate_size() > kTasksMax) {
    return BadField("evaluations, generate", "too many");
  }
  for (const v1::EvaluationOrder& order : orders.evaluations()) {
    out->evaluations.push_back(
        {Sequence(order.sequence()), order.samples_max()});
  }
  for (const v1::GenerateOrder& order : orders.generate()) {
    if (order.request() == 0) return BadField("generate", "without request");
    if (!std::isfinite(order.temperature()) || order.temperature() < 0) {
      return BadField("generate.temperature", "has to be 0 or more");
    }
    out->generate.push_back({order.request(), order.prompt(), order.tokens(),
                             order.temperature(), order.seed()});
  }
  return absl::OkStatus();
}

}  // namespace

bool HasEnded(v1::JobPhase phase) {
  const absl::StatusOr<JobPhase> known = PhaseFromProto(phase);
  return known.ok() && IsOver(*known);
}

absl::StatusOr<JobOrders> JobOrdersFromProto(const v1::JobOrders& orders) {
  JobOrders out;
  if (orders.job() == 0) return BadField("job", "is missing");
  out.job = JobId(orders.job());
  SKERRY_ASSIGN_OR_RETURN(out.settings, JobSettingsFromProto(orders.spec()));
  if (orders.has_restored() && orders.restored().sha256().empty()) {
    // It begins again with what it began with.
    const auto& sequences = orders.restored().fragment_sequences();
    out.settings.begins_at.assign(out.settings.fragments,
                                  Sequence(orders.restored().sequence()));
    for (int f = 0; f < sequences.size() &&
                    f < static_cast<int>(out.settings.begins_at.size());
         ++f) {
      out.settings.begins_at[f] = Sequence(sequences[f]);
    }
  } else if (orders.has_restored()) {
    out.settings.from_checkpoint = true;
  }
  SKERRY_ASSIGN_OR_RETURN(out.phase, PhaseFromProto(orders.phase()));
  out.epoch = Epoch(orders.epoch());
  out.life = Life(orders.life());
  out.replica = ReplicaId(orders.replica());
  SKERRY_ASSIGN_OR_RETURN(out.holders,
                          HoldersFromProto(orders.holders(), "holders"));
  if (out.life.is_set() && out.holders.empty()) {
    return BadField("holders", "a life without holders");
  }
  SKERRY_ASSIGN_OR_RETURN(out.granted,
                          RangesFromProto(orders.granted(), "granted"));
  out.paused = orders.paused();
  out.nothing_left = orders.nothing_left();
  out.element_count = orders.element_count();
  SKERRY_RETURN_IF_ERROR(FragmentsFromProto(orders, &out));
  SKERRY_RETURN_IF_ERROR(TasksFromProto(orders, &out));
  return out;
}

}  // namespace skerry::worker
