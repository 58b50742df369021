// What tells two states apart.
#include <span>
#include <string_view>

#include "coordinator/core/log/state_hash.h"
#include "tests/exhaustive/model.h"

namespace skerry::exhaustive {
namespace {

using coordinator::StateHasher;
using protocol::FragmentFacts;
using protocol::FragmentOrders;
using protocol::HeldBase;
using protocol::JobOrders;
using protocol::Source;
using protocol::SpanHolder;
using protocol::StatusFacts;

void HashContribution(const protocol::Contribution& offer,
                      StateHasher& hasher) {
  hasher.Add(offer.round);
  hasher.Add(offer.base);
  hasher.Add(offer.ranges.ranges());
}

void HashFragment(const FragmentFacts& facts, StateHasher& hasher) {
  hasher.Add(uint64_t{facts.span_begin});
  hasher.Add(facts.applied);
  hasher.Add(uint64_t{facts.anchor_hashes.size()});
  for (const uint64_t hash : facts.anchor_hashes) hasher.Add(hash);
  hasher.Add(facts.stored_through);
  hasher.Add(uint64_t{facts.stored.has_value()});
  if (facts.stored.has_value()) {
    hasher.Add(facts.stored->attempt);
    for (const uint64_t hash : facts.stored->hashes) hasher.Add(hash);
  }
  hasher.Add(uint64_t{facts.ready.has_value()});
  if (facts.ready.has_value()) HashContribution(*facts.ready, hasher);
  for (const auto& progress : facts.progress) {
    hasher.Add(progress.replica);
    hasher.Add(progress.bytes);
  }
  hasher.Add(uint64_t{facts.bases.size()});
  for (const HeldBase& base : facts.bases) {
    hasher.Add(base.sequence);
    hasher.Add(uint64_t{base.span_begin});
    hasher.Add(uint64_t{base.hashes.size()});
  }
  hasher.Add(facts.first_result_kept);
  hasher.Add(facts.pin);
}

uint64_t HashOfStatus(const StatusFacts& status) {
  StateHasher hasher;
  hasher.Add(status.boot);
  hasher.Add(status.incarnation);
  for (const protocol::JobFacts& job : status.jobs) {
    hasher.Add(job.life);
    hasher.Add(job.abandoned_life);
    hasher.Add(job.initial_hash);
    hasher.Add(static_cast<uint64_t>(job.state));
    for (const FragmentFacts& facts : job.fragments) {
      HashFragment(facts, hasher);
    }
    for (const auto& fact : job.evaluations) hasher.Add(fact.sequence);
    if (job.checkpoint.has_value()) {
      hasher.Add(job.checkpoint->sequence);
      hasher.Add(std::string_view(job.checkpoint->sha256));
      hasher.Add(std::string_view(job.checkpoint->error));
    }
  }
  return hasher.value();
}

void HashOfFragment(const FragmentOrders& fragment, StateHasher& hasher) {
  hasher.Add(fragment.newest);
  hasher.Add(fragment.keep_from);
  hasher.Add(uint64_t{fragment.wanted});
  hasher.Add(uint64_t{fragment.committed.size()});
  hasher.Add(fragment.open.has_value() ? fragment.open->attempt : Attempt());
  if (fragment.outcome.has_value()) {
    hasher.Add(fragment.outcome->round);
    hasher.Add(static_cast<uint64_t>(fragment.outcome->kind));
    hasher.Add(fragment.outcome->attempt);
  }
  for (const Source& source : fragment.sources) {
    hasher.Add(source.holder);
    hasher.Add(source.base);
    hasher.Add(uint64_t{source.base_hashes.size()});
    hasher.Add(source.results_from);
    hasher.Add(source.results_through);
  }
}

void HashPart(const Part& part, StateHasher& hasher) {
  for (const auto& [span, state] : part.spans) {
    hasher.Add(uint64_t{span});
    hasher.Add(state.applied);
    hasher.Add(state.anchor);
  }
  hasher.Add(uint64_t{part.known.size()});
  hasher.Add(part.trained);
  hasher.Add(uint64_t{part.at_boundary});
  hasher.Add(part.outcome);
  hasher.Add(uint64_t{part.pin_told});
}

void HashSeat(const Seat& seat, StateHasher& hasher) {
  hasher.Add(uint64_t{seat.is_there});
  hasher.Add(seat.newest);
  hasher.Add(seat.used);
  hasher.Add(uint64_t{seat.running.has_value()});
  if (seat.running.has_value()) hasher.Add(uint64_t{seat.running->turn});
  for (const Part& part : seat.parts) HashPart(part, hasher);
}

void HashDisk(const Disk& disk, StateHasher& hasher) {
  hasher.Add(uint64_t{disk.results.size()});
  for (const auto& [key, hash] : disk.results) hasher.Add(hash);
  hasher.Add(uint64_t{disk.bases.size()});
  for (const auto& [key, hash] : disk.bases) {
    hasher.Add(std::get<1>(key));
    hasher.Add(hash);
  }
}

}  // namespace

uint64_t Model::SaysHash(const WorkerState& worker) const {
  return HashOfStatus(StatusOf(worker));
}

// If a worker hears Orders with the hash of those before, nothing changes.
uint64_t Model::HashOf(const protocol::Orders& orders) {
  StateHasher hasher;
  hasher.Add(orders.boot);
  hasher.Add(orders.incarnation);
  for (const JobOrders& job : orders.jobs) {
    hasher.Add(job.life);
    hasher.Add(job.initial_hash);
    hasher.Add(static_cast<uint64_t>(job.phase));
    hasher.Add(uint64_t{job.nothing_left});
    hasher.Add(job.granted.ranges());
    for (const SpanHolder& holder : job.holders) hasher.Add(holder);
    for (const FragmentOrders& fragment : job.fragments) {
      HashOfFragment(fragment, hasher);
    }
    for (const auto& order : job.evaluations) hasher.Add(order.sequence);
    if (job.checkpoint.has_value()) hasher.Add(job.checkpoint->sequence);
    if (job.restored.has_value()) hasher.Add(job.restored->sequence);
  }
  return hasher.value();
}

uint64_t Model::Hash() const {
  StateHasher hasher;
  hasher.Add(cluster_.StateHash());
  const auto next = cluster_.NextDeadline();
  hasher.Add(next.has_value()
                 ? static_cast<uint64_t>(absl::ToInt64Nanoseconds(*next - now_))
                 : 0);
  for (const int left :
       {left_.coordinator_crashes, left_.kills, left_.disk_losses,
        left_.expiries, left_.deadlines, left_.late, left_.lies}) {
    hasher.Add(static_cast<uint64_t>(left));
  }
  for (const Frame& frame : frames_) {
    hasher.Add(frame.attempt);
    hasher.Add(uint64_t{frame.is_result});
    hasher.Add(uint64_t{frame.from});
    hasher.Add(uint64_t{frame.to});
  }
  for (const WorkerState& worker : workers_) {
    hasher.Add(uint64_t{worker.alive});
    hasher.Add(SaysHash(worker));
    hasher.Add(worker.told);
    hasher.Add(worker.heard);
    if (left_.late > 0 && worker.before.has_value()) {
      hasher.Add(HashOfStatus(*worker.before));
    }
    HashSeat(worker.seat, hasher);
    HashDisk(worker.disk, hasher);
  }
  for (const auto& [state, saved] : history_.saved()) hasher.Add(state);
  return hasher.value();
}

}  // namespace skerry::exhaustive
