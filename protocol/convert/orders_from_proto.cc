#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "job/convert/job_spec.h"
#include "job/limits.h"
#include "protocol/convert/directory.h"
#include "protocol/convert/fields.h"
#include "protocol/convert/orders.h"
#include "protocol/convert/reach.h"

namespace skerry::protocol {
namespace {

using job::BadField;

constexpr int kHoldersMax = 4096;
constexpr int kCommittedMax = 256;
constexpr int kMembersMax = 64;
constexpr int kSourcesMax = 65536;
constexpr int kWorkersMax = 65536;
constexpr int kTasksMax = 1024;

// A replica's holders, in order and without gaps from span 0.
absl::Status CheckCover(const std::vector<SpanHolder>& holders,
                        absl::string_view field) {
  uint32_t next = 0;
  for (const SpanHolder& holder : holders) {
    if (holder.span_begin != next) {
      return BadField(field, "spans overlap or miss");
    }
    next = holder.span_end;
  }
  return absl::OkStatus();
}

template <typename Repeated>
absl::StatusOr<std::vector<SpanHolder>> HoldersFromProto(
    const Repeated& holders, absl::string_view field) {
  if (holders.size() > kHoldersMax) return BadField(field, "too many");
  std::vector<SpanHolder> all;
  for (const v1::SpanHolder& holder : holders) {
    SKERRY_ASSIGN_OR_RETURN(SpanHolder one, HolderFromProto(holder, field));
    all.push_back(std::move(one));
  }
  SKERRY_RETURN_IF_ERROR(CheckCover(all, field));
  return all;
}

absl::Status CheckWeight(double weight, absl::string_view field) {
  const float single = static_cast<float>(weight);
  if (single > 0.0f && std::isfinite(single)) return absl::OkStatus();
  return BadField(field, "has to be positive");
}

absl::StatusOr<CommittedEntry> EntryFromProto(const v1::CommittedEntry& entry) {
  if (entry.sequence() == 0 || entry.attempt() == 0) {
    return BadField("committed", "without sequence or attempt");
  }
  if (entry.hashes().empty() ||
      static_cast<uint32_t>(entry.hashes_size()) > job::kSpansMax) {
    return BadField("committed", "bad count of hashes");
  }
  SKERRY_RETURN_IF_ERROR(
      CheckWeight(entry.total_weight(), "committed.total_weight"));
  return CommittedFromProto(entry, "committed");
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
    SKERRY_ASSIGN_OR_RETURN(Member one,
                            MemberFromProto(member, "open.members"));
    if (one.holders.size() > kHoldersMax) {
      return BadField("open.members", "too many holders");
    }
    SKERRY_RETURN_IF_ERROR(CheckCover(one.holders, "open.members"));
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
  SKERRY_ASSIGN_OR_RETURN(out.hops, HopsFromProto(open.hops(), "open.hops"));
  SKERRY_RETURN_IF_ERROR(CheckWeight(open.total_weight(), "open.total_weight"));
  out.total_weight = open.total_weight();
  out.deadline_in = DurationFromProto(open.deadline_ms());
  out.reason = open.reason();
  return out;
}

absl::StatusOr<Source> SourceFromProto(const v1::Source& source) {
  Source out;
  SKERRY_ASSIGN_OR_RETURN(out.holder,
                          HolderFromProto(source.holder(), "sources"));
  out.base = Sequence(source.base());
  out.base_hashes.assign(source.base_hashes().begin(),
                         source.base_hashes().end());
  if (out.base_hashes.size() > out.holder.span_end - out.holder.span_begin) {
    return BadField("sources", "more base_hashes than spans");
  }
  out.results_from = Sequence(source.results_from());
  out.results_through = Sequence(source.results_through());
  out.base_attempt = Attempt(source.base_attempt());
  return out;
}

absl::StatusOr<FragmentOrders> FragmentFromProto(
    const v1::FragmentOrders& fragment) {
  FragmentOrders out;
  out.fragment = FragmentId(fragment.fragment());
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
    SKERRY_ASSIGN_OR_RETURN(out.outcome,
                            OutcomeFromProto(fragment.outcome(), "outcome"));
  }
  for (const v1::Source& source : fragment.sources()) {
    SKERRY_ASSIGN_OR_RETURN(Source one, SourceFromProto(source));
    out.sources.push_back(std::move(one));
  }
  out.wanted = fragment.wanted();
  const v1::KeptState& kept = fragment.kept();
  out.kept = {Sequence(kept.sequence()), Attempt(kept.attempt()),
              Attempt(kept.since())};
  return out;
}

absl::Status FragmentsFromProto(const v1::JobOrders& orders, JobOrders* out) {
  const uint32_t count = job::FragmentCount(out->spec);
  if (count > job::kFragmentsMax) {
    return BadField("spec.exchange.fragments", "is above 64");
  }
  std::vector<bool> named(count, false);
  for (const v1::FragmentOrders& fragment : orders.fragments()) {
    const uint32_t index = fragment.fragment();
    if (index >= count || named[index]) {
      return BadField("fragments",
                      absl::StrCat("names ", index, " twice, or of ", count));
    }
    named[index] = true;
    SKERRY_ASSIGN_OR_RETURN(FragmentOrders one, FragmentFromProto(fragment));
    out->fragments.push_back(std::move(one));
  }
  return absl::OkStatus();
}

absl::Status WorkersFromProto(const v1::JobOrders& orders, JobOrders* out) {
  if (orders.workers_size() > kWorkersMax)
    return BadField("workers", "too many");
  for (const std::string& worker : orders.workers()) {
    SKERRY_RETURN_IF_ERROR(CheckName(worker, "workers"));
    out->workers.push_back(worker);
  }
  if (orders.data_holders_size() > kWorkersMax)
    return BadField("data_holders", "too many");
  for (const std::string& worker : orders.data_holders()) {
    SKERRY_RETURN_IF_ERROR(CheckName(worker, "data_holders"));
    out->data_holders.push_back(worker);
  }
  return absl::OkStatus();
}

template <typename Repeated>
std::vector<Sequence> SequencesFromProto(const Repeated& sequences) {
  std::vector<Sequence> all;
  for (const uint64_t sequence : sequences) all.emplace_back(sequence);
  return all;
}

absl::StatusOr<CheckpointOrder> CheckpointFromProto(
    const v1::CheckpointOrder& order) {
  if (order.fragment_sequences().size() >
      static_cast<int>(job::kFragmentsMax)) {
    return BadField("checkpoint.fragment_sequences", "too many");
  }
  CheckpointOrder out;
  out.sequence = Sequence(order.sequence());
  out.samples_committed = order.samples_committed();
  for (const v1::StatePiece& piece : order.pieces()) {
    out.pieces.push_back(PieceFromProto(piece));
  }
  SKERRY_ASSIGN_OR_RETURN(
      out.consumed,
      RangeSetFromProto(order.consumed(), kAnyNumber, "checkpoint.consumed"));
  out.pinned = SequencesFromProto(order.pinned());
  out.fragment_sequences = SequencesFromProto(order.fragment_sequences());
  return out;
}

absl::StatusOr<RestoredState> RestoredFromProto(
    const v1::RestoredState& restored) {
  if (restored.fragment_sequences().size() >
      static_cast<int>(job::kFragmentsMax)) {
    return BadField("restored.fragment_sequences", "too many");
  }
  return RestoredState{Sequence(restored.sequence()),
                       Sequence(restored.checkpoint()), restored.sha256(),
                       restored.samples_committed(),
                       SequencesFromProto(restored.fragment_sequences())};
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

absl::StatusOr<JobOrders> JobFromProto(const v1::JobOrders& orders) {
  JobOrders out;
  if (orders.job() == 0) return BadField("job", "is missing");
  out.job = JobId(orders.job());
  out.uid = orders.uid();
  SKERRY_ASSIGN_OR_RETURN(out.spec, job::JobSpecFromProto(orders.spec()));
  SKERRY_ASSIGN_OR_RETURN(out.phase, PhaseFromProto(orders.phase(), "phase"));
  out.epoch = Epoch(orders.epoch());
  out.life = Life(orders.life());
  out.replica = ReplicaId(orders.replica());
  SKERRY_ASSIGN_OR_RETURN(out.holders,
                          HoldersFromProto(orders.holders(), "holders"));
  if (out.life.is_set() && out.holders.empty()) {
    return BadField("holders", "a life without holders");
  }
  SKERRY_ASSIGN_OR_RETURN(
      out.granted, RangeSetFromProto(orders.granted(), kAnyNumber, "granted"));
  out.paused = orders.paused();
  out.nothing_left = orders.nothing_left();
  out.element_count = orders.element_count();
  out.initial_hash = orders.initial_hash();
  out.average_begin = orders.average_begin();
  SKERRY_RETURN_IF_ERROR(FragmentsFromProto(orders, &out));
  SKERRY_RETURN_IF_ERROR(WorkersFromProto(orders, &out));
  SKERRY_RETURN_IF_ERROR(TasksFromProto(orders, &out));
  if (orders.has_checkpoint()) {
    SKERRY_ASSIGN_OR_RETURN(out.checkpoint,
                            CheckpointFromProto(orders.checkpoint()));
  }
  if (orders.has_restored()) {
    SKERRY_ASSIGN_OR_RETURN(out.restored, RestoredFromProto(orders.restored()));
  }
  return out;
}

// A pair without two usable names is left out: nothing is passed on for it.
RelayedPairs RelayedFromProto(const v1::Orders& orders) {
  RelayedPairs pairs;
  for (const v1::RelayedPeers& entry : orders.relayed()) {
    if (!CheckName(entry.worker(), "relayed").ok()) continue;
    for (const std::string& peer : entry.peers()) {
      if (!CheckName(peer, "relayed").ok() || peer == entry.worker()) continue;
      pairs.insert(RelayedPair(entry.worker(), peer));
    }
  }
  return pairs;
}

StoredJobKey KeyFromProto(const v1::StoredJobKey& key) {
  return {JobId(key.job()), key.uid()};
}

}  // namespace

HeardOrders OrdersFromProto(const v1::Orders& orders) {
  HeardOrders heard;
  Orders& out = heard.orders;
  out.revision = Revision(orders.revision());
  out.boot = Boot(orders.boot());
  out.incarnation = Incarnation(orders.incarnation());
  out.lease = DurationFromProto(orders.lease_ms());
  out.released = orders.released();
  out.drain = orders.drain();
  out.data_paths.assign(orders.data_paths().begin(), orders.data_paths().end());
  for (const v1::StoredJobKey& key : orders.ended_jobs()) {
    out.ended_jobs.push_back(KeyFromProto(key));
  }
  for (const v1::StoredJobKey& key : orders.removed_jobs()) {
    out.removed_jobs.push_back(KeyFromProto(key));
  }
  if (orders.has_revoked()) {
    const auto& what = orders.revoked().what();
    out.revoked = {orders.revoked().version(), {what.begin(), what.end()}};
  }
  for (const v1::JobOrders& job : orders.jobs()) {
    absl::StatusOr<JobOrders> one = JobFromProto(job);
    if (one.ok()) {
      out.jobs.push_back(*std::move(one));
    } else {
      heard.refused.push_back({{JobId(job.job()), job.uid()}, one.status()});
    }
  }
  out.directory = DirectoryFromProto(orders.directory());
  FillDirectory(out);
  for (const std::string& worker : orders.awaited_by()) {
    if (CheckName(worker, "awaited_by").ok()) out.awaited_by.push_back(worker);
  }
  out.relayed = RelayedFromProto(orders);
  out.tries = TriesFromProto(orders.tries());
  out.pieces = PieceOrdersFromProto(orders.pieces());
  return heard;
}

}  // namespace skerry::protocol
