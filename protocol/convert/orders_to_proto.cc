#include "base/release.h"
#include "job/convert/job_spec.h"
#include "protocol/convert/directory.h"
#include "protocol/convert/fields.h"
#include "protocol/convert/orders.h"
#include "protocol/convert/reach.h"

namespace skerry::protocol {
namespace {

void OpenToProto(const OpenExchange& open, v1::OpenExchange* out) {
  out->set_sequence(open.sequence.value());
  out->set_attempt(open.attempt.value());
  for (const Member& member : open.members) {
    MemberToProto(member, out->add_members());
  }
  out->mutable_owners()->Assign(open.owners.begin(), open.owners.end());
  out->set_hops(HopsToProto(open.hops));
  out->set_total_weight(open.total_weight);
  out->set_deadline_ms(absl::ToInt64Milliseconds(open.deadline_in));
  out->set_reason(open.reason);
}

void SourceToProto(const Source& source, v1::Source* out) {
  HolderToProto(source.holder, out->mutable_holder());
  out->set_base(source.base.value());
  out->set_results_from(source.results_from.value());
  out->set_results_through(source.results_through.value());
  out->mutable_base_hashes()->Assign(source.base_hashes.begin(),
                                     source.base_hashes.end());
  out->set_base_attempt(source.base_attempt.value());
}

void KeptToProto(const KeptState& kept, v1::KeptState* out) {
  out->set_sequence(kept.sequence.value());
  out->set_attempt(kept.attempt.value());
  out->set_since(kept.since.value());
}

void FragmentToProto(const FragmentOrders& fragment, v1::FragmentOrders* out) {
  out->set_fragment(static_cast<uint32_t>(fragment.fragment.value()));
  out->set_newest(fragment.newest.value());
  for (const CommittedEntry& entry : fragment.committed) {
    CommittedToProto(entry, out->add_committed());
  }
  if (fragment.open.has_value()) {
    OpenToProto(*fragment.open, out->mutable_open());
  }
  if (fragment.outcome.has_value()) {
    OutcomeToProto(*fragment.outcome, out->mutable_outcome());
  }
  out->set_keep_from(fragment.keep_from.value());
  for (const Source& source : fragment.sources) {
    SourceToProto(source, out->add_sources());
  }
  out->set_wanted(fragment.wanted);
  if (fragment.kept.since.is_set()) {
    KeptToProto(fragment.kept, out->mutable_kept());
  }
}

void GenerateToProto(const GenerateOrder& order, v1::GenerateOrder* out) {
  out->set_request(order.request);
  out->set_prompt(order.prompt);
  out->set_tokens(order.tokens);
  out->set_temperature(order.temperature);
  out->set_seed(order.seed);
}

void CheckpointToProto(const CheckpointOrder& order, const Directory& directory,
                       v1::CheckpointOrder* out) {
  out->set_sequence(order.sequence.value());
  out->set_samples_committed(order.samples_committed);
  for (const StatePiece& piece : order.pieces) {
    PieceToProto(piece, directory, out->add_pieces());
  }
  RangeSetToProto(order.consumed, out->mutable_consumed());
  for (const Sequence sequence : order.pinned) {
    out->add_pinned(sequence.value());
  }
  for (const Sequence sequence : order.fragment_sequences) {
    out->add_fragment_sequences(sequence.value());
  }
}

void RestoredToProto(const RestoredState& restored, v1::RestoredState* out) {
  out->set_sequence(restored.sequence.value());
  out->set_checkpoint(restored.checkpoint.value());
  out->set_sha256(restored.sha256);
  out->set_samples_committed(restored.samples_committed);
  for (const Sequence sequence : restored.fragment_sequences) {
    out->add_fragment_sequences(sequence.value());
  }
}

void JobToProto(const JobOrders& job, const Directory& directory,
                v1::JobOrders* out) {
  out->set_job(job.job.value());
  job::JobSpecToProto(job.spec, out->mutable_spec());
  out->set_phase(PhaseToProto(job.phase));
  out->set_epoch(job.epoch.value());
  out->set_uid(job.uid);
  out->set_life(job.life.value());
  out->set_replica(job.replica.value());
  for (const SpanHolder& holder : job.holders) {
    HolderToProto(holder, out->add_holders());
  }
  RangeSetToProto(job.granted, out->mutable_granted());
  out->set_paused(job.paused);
  out->set_nothing_left(job.nothing_left);
  out->set_element_count(job.element_count);
  out->set_initial_hash(job.initial_hash);
  out->set_average_begin(job.average_begin);
  for (const FragmentOrders& fragment : job.fragments) {
    FragmentToProto(fragment, out->add_fragments());
  }
  for (const std::string& worker : job.workers) out->add_workers(worker);
  for (const std::string& worker : job.data_holders) {
    out->add_data_holders(worker);
  }
  for (const EvaluationOrder& order : job.evaluations) {
    v1::EvaluationOrder* one = out->add_evaluations();
    one->set_sequence(order.sequence.value());
    one->set_samples_max(order.samples_max);
  }
  for (const GenerateOrder& order : job.generate) {
    GenerateToProto(order, out->add_generate());
  }
  if (job.checkpoint.has_value()) {
    CheckpointToProto(*job.checkpoint, directory, out->mutable_checkpoint());
  }
  if (job.restored.has_value()) {
    RestoredToProto(*job.restored, out->mutable_restored());
  }
}

void RelayedToProto(const RelayedPairs& pairs, v1::Orders* out) {
  v1::RelayedPeers* last = nullptr;
  for (const auto& [worker, peer] : pairs) {
    if (last == nullptr || last->worker() != worker) {
      last = out->add_relayed();
      last->set_worker(worker);
    }
    last->add_peers(peer);
  }
}

void KeyToProto(const StoredJobKey& key, v1::StoredJobKey* out) {
  out->set_job(key.job.value());
  out->set_uid(key.uid);
}

}  // namespace

void OrdersToProto(const Orders& orders, v1::Orders* out) {
  out->Clear();
  out->set_protocol_version(kProtocolVersion);
  out->set_revision(orders.revision.value());
  out->set_boot(orders.boot.value());
  out->set_incarnation(orders.incarnation.value());
  out->set_lease_ms(absl::ToInt64Milliseconds(orders.lease));
  for (const JobOrders& job : orders.jobs) {
    JobToProto(job, orders.directory, out->add_jobs());
  }
  DirectoryToProto(orders.directory, out->mutable_directory());
  for (const std::string& name : orders.awaited_by) out->add_awaited_by(name);
  RelayedToProto(orders.relayed, out);
  for (const TryOrder& one : orders.tries) TryToProto(one, out->add_tries());
  for (const PieceOrder& one : orders.pieces) {
    PieceOrderToProto(one, out->add_pieces());
  }
  out->set_released(orders.released);
  out->set_drain(orders.drain);
  for (const std::string& path : orders.data_paths) out->add_data_paths(path);
  for (const StoredJobKey& key : orders.ended_jobs) {
    KeyToProto(key, out->add_ended_jobs());
  }
  for (const StoredJobKey& key : orders.removed_jobs) {
    KeyToProto(key, out->add_removed_jobs());
  }
  if (orders.revoked.has_value()) {
    out->mutable_revoked()->set_version(orders.revoked->version);
    for (const std::string& what : orders.revoked->what) {
      out->mutable_revoked()->add_what(what);
    }
  }
}

}  // namespace skerry::protocol
