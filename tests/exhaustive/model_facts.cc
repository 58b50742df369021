// What workers of the model say, and what tells two states apart.
#include <span>
#include <string_view>

#include "tests/exhaustive/model.h"

namespace skerry::exhaustive {
namespace {

using coordinator::FragmentFacts;
using coordinator::HeldBase;
using coordinator::JobOrders;
using coordinator::Source;
using coordinator::SpanHolder;
using coordinator::StateHasher;
using coordinator::StatusFacts;

constexpr uint64_t kElementsPerSpan = 4096;
constexpr uint64_t kBootsPerWorker = 1000;

void HashContribution(const coordinator::Contribution& offer,
                      StateHasher& hasher) {
  hasher.Add(offer.round);
  hasher.Add(offer.base);
  hasher.Add(std::span(offer.ranges));
}

void HashFragment(const FragmentFacts& facts, StateHasher& hasher) {
  hasher.Add(uint64_t{facts.span_begin});
  hasher.Add(facts.applied);
  for (const uint64_t hash : facts.anchor_hashes) hasher.Add(hash);
  hasher.Add(facts.stored_through);
  if (facts.stored.has_value()) {
    hasher.Add(facts.stored->attempt);
    for (const uint64_t hash : facts.stored->hashes) hasher.Add(hash);
  }
  if (facts.ready.has_value()) HashContribution(*facts.ready, hasher);
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
  for (const coordinator::JobFacts& job : status.jobs) {
    hasher.Add(job.life);
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

}  // namespace

void Model::Boot(Worker& worker) {
  const auto index = static_cast<uint64_t>(&worker - workers_.data());
  ++worker.starts;
  worker.boot = skerry::Boot(kBootsPerWorker * (index + 1) + worker.starts);
  worker.incarnation = Incarnation();
  worker.counter = 0;
  worker.seat = Seat();
  worker.told = 0;
  worker.heard = 0;
  worker.last.reset();
  worker.before.reset();
}

StatusFacts Model::StatusOf(const Worker& worker) const {
  StatusFacts status;
  status.release = "test";
  status.self = {worker.name, worker.name, ""};
  status.island = worker.island;
  status.boot = worker.boot;
  status.incarnation = worker.incarnation;
  const Seat& seat = worker.seat;
  if (!seat.is_there) return status;
  coordinator::JobFacts facts;
  facts.job = job_;
  facts.life = seat.life;
  facts.state = seat.resting         ? coordinator::SeatState::kResting
                : seat.life.is_set() ? coordinator::SeatState::kActive
                                     : coordinator::SeatState::kRecovering;
  facts.element_count = scenario_.spans * kElementsPerSpan;
  facts.epoch_samples = scenario_.samples;
  facts.fragments.push_back(FragmentOf(worker));
  for (const Sequence sequence : seat.evaluated) {
    facts.evaluations.push_back({sequence, 1.0, 1});
  }
  facts.checkpoint = seat.saved;
  status.jobs.push_back(std::move(facts));
  return status;
}

FragmentFacts Model::FragmentOf(const Worker& worker) const {
  const Seat& seat = worker.seat;
  FragmentFacts facts;
  facts.span_begin = seat.begin;
  for (const auto& [key, hash] : worker.disk.bases) {
    const auto [sequence, span] = key;
    if (sequence == 0) continue;
    const bool at_edge = span == seat.begin || span == seat.end;
    if (facts.bases.empty() || at_edge ||
        facts.bases.back().sequence.value() != sequence ||
        facts.bases.back().span_begin + facts.bases.back().hashes.size() !=
            span) {
      facts.bases.push_back({Sequence(sequence), span, {}});
    }
    facts.bases.back().hashes.push_back(hash);
  }
  facts.stored = seat.stored;
  facts.ready = seat.ready;
  if (!seat.applied.has_value()) return facts;
  facts.applied = *seat.applied;
  for (const auto& [span, anchor] : seat.anchors) {
    facts.anchor_hashes.push_back(anchor);
  }
  const auto has = [&](Sequence sequence) {
    const auto entry = seat.known.find(sequence);
    if (entry == seat.known.end()) return false;
    for (uint32_t span = seat.begin; span < seat.end; ++span) {
      if (!worker.disk.results.contains(
              {sequence.value(), entry->second.attempt.value(), span})) {
        return false;
      }
    }
    return true;
  };
  facts.stored_through = *seat.applied;
  while (has(Next(facts.stored_through))) {
    facts.stored_through = Next(facts.stored_through);
  }
  for (Sequence last = facts.stored_through; last.is_set() && has(last);
       last = Sequence(last.value() - 1)) {
    facts.first_result_kept = last;
  }
  if (!seat.life.is_set()) facts.pin = seat.pin;
  return facts;
}

uint64_t Model::MemoryHash(const Worker& worker) const {
  return HashOfStatus(StatusOf(worker));
}

uint64_t Model::HashOf(const coordinator::Orders& orders) const {
  StateHasher hasher;
  hasher.Add(orders.revision);
  hasher.Add(orders.incarnation);
  for (const JobOrders& job : orders.jobs) {
    hasher.Add(job.life);
    hasher.Add(static_cast<uint64_t>(job.phase));
    for (const SpanHolder& holder : job.holders) hasher.Add(holder);
    for (const auto& fragment : job.fragments) {
      hasher.Add(fragment.newest);
      hasher.Add(fragment.keep_from);
      hasher.Add(uint64_t{fragment.committed.size()});
      for (const Source& source : fragment.sources) {
        hasher.Add(source.holder);
        hasher.Add(source.base);
        hasher.Add(source.results_from);
        hasher.Add(source.results_through);
      }
    }
    for (const auto& order : job.evaluations) hasher.Add(order.sequence);
    if (job.checkpoint.has_value()) hasher.Add(job.checkpoint->sequence);
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
  for (const auto& [attempt, index] : frames_) {
    hasher.Add(attempt);
    hasher.Add(uint64_t{index});
  }
  for (const Worker& worker : workers_) {
    const Seat& seat = worker.seat;
    hasher.Add(uint64_t{worker.alive});
    hasher.Add(MemoryHash(worker));
    hasher.Add(worker.told);
    hasher.Add(worker.heard);
    hasher.Add(seat.newest);
    hasher.Add(seat.used);
    hasher.Add(uint64_t{seat.running.has_value()});
    if (seat.running.has_value()) hasher.Add(seat.running->base);
    if (left_.late > 0 && worker.before.has_value()) {
      hasher.Add(HashOfStatus(*worker.before));
    }
    for (const auto& [key, hash] : worker.disk.results) {
      hasher.Add(std::get<0>(key));
      hasher.Add(std::get<1>(key));
      hasher.Add(uint64_t{std::get<2>(key)});
    }
    for (const auto& [key, hash] : worker.disk.bases) {
      hasher.Add(key.first);
      hasher.Add(uint64_t{key.second});
    }
  }
  for (const auto& [sequence, state] : blobs_) hasher.Add(sequence);
  return hasher.value();
}

}  // namespace skerry::exhaustive
