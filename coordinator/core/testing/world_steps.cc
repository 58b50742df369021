// What the fake workers do with each other at every step of the world.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/testing/scripted_world.h"

namespace skerry::coordinator {

void ScriptedWorld::StepWorker(FakeWorker& worker) {
  if (!worker.alive()) return;
  for (auto& [job, seat] : worker.seats()) {
    if (seat.state == SeatState::kStarting && seat.started <= now_) {
      seat.state = SeatState::kRecovering;
    }
    if (seat.state == SeatState::kStarting) continue;
    if (!seat.life.is_set() || seat.state == SeatState::kResting) {
      StepRecovery(job, worker, seat);
    }
    StepExchange(job, worker, seat);
    StepEvaluation(seat);
  }
}

void ScriptedWorld::StepRecovery(JobId job, FakeWorker& worker,
                                 FakeSeat& seat) {
  if (seat.started > now_) return;
  while (ApplyOne(job, worker, seat)) {
  }
}

bool ScriptedWorld::CanFetch(JobId job, Sequence sequence, Attempt attempt,
                             uint32_t span) {
  for (const auto& worker : workers_) {
    if (!worker->alive()) continue;
    if (worker->disks()[job].results.contains(
            {sequence.value(), attempt.value(), span})) {
      return true;
    }
  }
  return false;
}

const CommittedEntry* ScriptedWorld::Applicable(JobId job, const FakeSeat& seat,
                                                Sequence applied) {
  if (seat.orders.fragments.empty() || seat.anchors.empty()) return nullptr;
  for (const CommittedEntry& entry : seat.orders.fragments.front().committed) {
    if (entry.sequence != Next(applied)) continue;
    for (uint32_t span = seat.span_begin; span < seat.span_end; ++span) {
      if (!CanFetch(job, entry.sequence, entry.attempt, span)) return nullptr;
    }
    return &entry;
  }
  return nullptr;
}

bool ScriptedWorld::ApplyOne(JobId job, FakeWorker& worker, FakeSeat& seat) {
  const CommittedEntry* entry = Applicable(job, seat, seat.applied);
  if (entry == nullptr) return false;
  for (uint32_t span = seat.span_begin; span < seat.span_end; ++span) {
    worker.disks()[job]
        .results[{entry->sequence.value(), entry->attempt.value(), span}] =
        entry->hashes[span];
    seat.anchors[span] = FoldAnchor(seat.anchors[span], entry->hashes[span]);
  }
  seat.applied = entry->sequence;
  return true;
}

void ScriptedWorld::StepExchange(JobId job, FakeWorker& worker,
                                 FakeSeat& seat) {
  const auto open = seat.Open();
  if (!open.has_value() || !seat.ready.has_value() || !seat.life.is_set()) {
    return;
  }
  const Member* own = nullptr;
  for (const Member& member : open->members) {
    if (member.life == seat.life) own = &member;
  }
  if (own == nullptr || own->contribution.round != seat.ready->round) return;
  if (open->attempt > seat.joined) {
    seat.joined = open->attempt;
    seat.frames_at = now_ + absl::Milliseconds(random_.Below(300));
    // One minority at most, and not twice for one sequence: more cannot be told
    // from the truth.
    seat.lies = Faulty() && worker.name() == "w2" &&
                open->members.size() >= 3 && Chance(options_.lie) &&
                lied_.insert({job, open->sequence}).second;
  }
  if (open->attempt != seat.joined || seat.frames_at > now_) return;
  frames_[{open->attempt.value(), worker.name()}] = true;
  if (seat.stored.has_value() && seat.stored->attempt == open->attempt) return;
  for (const Member& member : open->members) {
    for (const SpanHolder& holder : member.holders) {
      const bool overlaps = holder.span_begin < seat.span_end &&
                            seat.span_begin < holder.span_end;
      if (overlaps &&
          !frames_.contains({open->attempt.value(), holder.peer.worker})) {
        return;
      }
    }
  }
  StoredResult stored{open->sequence, open->attempt, {}, 1.0};
  for (uint32_t span = seat.span_begin; span < seat.span_end; ++span) {
    const uint64_t hash = ResultHash(open->attempt, open->members, span);
    stored.hashes.push_back(seat.lies ? hash + 1 : hash);
    if (seat.lies) continue;
    worker.disks()[job]
        .results[{open->sequence.value(), open->attempt.value(), span}] = hash;
  }
  seat.stored = std::move(stored);
}

void ScriptedWorld::StepEvaluation(FakeSeat& seat) {
  for (const EvaluationOrder& order : seat.orders.evaluations) {
    if (seat.applied != order.sequence || !Chance(0.2)) continue;
    const EvaluationFact fact{order.sequence, 2.0, order.samples_max};
    if (std::find(seat.evaluations.begin(), seat.evaluations.end(), fact) ==
        seat.evaluations.end()) {
      seat.evaluations.push_back(fact);
    }
  }
}

void ScriptedWorld::StepReplicas() {
  std::map<std::pair<JobId, Life>, std::vector<FakeWorker*>> replicas;
  for (const auto& worker : workers_) {
    if (!worker->alive()) continue;
    for (auto& [job, seat] : worker->seats()) {
      if (seat.life.is_set() && seat.state == SeatState::kActive) {
        replicas[{job, seat.life}].push_back(worker.get());
      }
    }
  }
  for (auto& [key, workers] : replicas) StepReplica(key.first, workers);
}

// Brings all workers of a replica to the newest sequence that each of them can
// reach; false while one is behind the others.
bool ScriptedWorld::AgreeOnCut(JobId job,
                               const std::vector<FakeWorker*>& workers) {
  Sequence cut(~uint64_t{0});
  Sequence least;
  for (FakeWorker* worker : workers) {
    if (worker->draining()) return false;
    const FakeSeat& seat = worker->seats()[job];
    least = std::max(least, seat.applied);
    Sequence reach = seat.applied;
    while (Applicable(job, seat, reach) != nullptr) reach = Next(reach);
    cut = std::min(cut, reach);
  }
  if (cut < least) return false;
  for (FakeWorker* worker : workers) {
    FakeSeat& seat = worker->seats()[job];
    while (seat.applied < cut) ApplyOne(job, *worker, seat);
  }
  return true;
}

// The boundary of PROTOCOL 4.2 for all workers of a replica at once.
void ScriptedWorld::StepReplica(JobId job, std::vector<FakeWorker*>& workers) {
  FakeSeat& head = workers.front()->seats()[job];
  if (workers.size() != head.orders.holders.size()) return;
  const uint32_t delay = OuterDelay(head.orders.spec);
  for (FakeWorker* worker : workers) {
    FakeSeat& seat = worker->seats()[job];
    if (seat.running.has_value() && seat.running->ends > now_ &&
        !worker->draining()) {
      return;
    }
    // One pending contribution: its outcome is waited for.
    if (seat.ready.has_value() && (seat.running.has_value() || delay == 0)) {
      return;
    }
    if (seat.newest_round != head.newest_round) return;
  }
  if (head.running.has_value()) {
    for (FakeWorker* worker : workers) {
      FakeSeat& seat = worker->seats()[job];
      Contribution ready;
      ready.round = seat.running->round;
      ready.base = seat.running->base;
      ready.ranges = seat.running->ranges;
      ready.weight = static_cast<double>(data::RangeSet(ready.ranges).total());
      ready.scalars.loss = 3.0;
      seat.ready = ready;
      seat.running.reset();
    }
    if (delay == 0) return;
  }
  if (!AgreeOnCut(job, workers) || head.orders.paused) return;
  data::RangeSet fresh =
      data::RangeSet(head.orders.granted).Subtract(head.used);
  for (FakeWorker* worker : workers) {
    const FakeSeat& seat = worker->seats()[job];
    fresh = fresh.Intersect(data::RangeSet(seat.orders.granted));
  }
  const auto& training = head.orders.spec.training;
  const data::RangeSet ranges = fresh.TakeFirst(
      uint64_t{training.tau} * training.batch_samples * workers.size());
  if (ranges.empty()) return;
  const bool slow = workers.front()->name() == "w0";
  const Instant ends = now_ + (slow ? options_.slowness : 1) *
                                  absl::Milliseconds(40 + random_.Below(160));
  for (FakeWorker* worker : workers) {
    FakeSeat& seat = worker->seats()[job];
    seat.used = seat.used.Union(ranges);
    seat.newest_round = Next(seat.newest_round);
    seat.running = FakeRound{seat.newest_round,
                             seat.applied,
                             {ranges.ranges().begin(), ranges.ranges().end()},
                             ends};
  }
}

void ScriptedWorld::CheckWorkers() {
  for (const auto& worker : workers_) {
    for (const auto& [job, seat] : worker->seats()) {
      const Truth& truth = truth_[job];
      if (seat.applied > truth.newest) {
        Break("A1: applied above committed");
        continue;
      }
      for (const auto& [span, anchor] : seat.anchors) {
        const uint64_t expected =
            seat.applied.is_set()
                ? truth.anchors.at(seat.applied.value() - 1).at(span)
                : span;
        if (anchor != expected) Break("A1: an anchor is not the fold");
      }
    }
    for (const auto& [id, committed] : worker->TakeOutcomes()) {
      bool found = false;
      for (const auto& [job, truth] : truth_) {
        const auto fate = truth.fate.find(id);
        if (fate == truth.fate.end()) continue;
        found = true;
        if (committed != (fate->second != ~uint64_t{0})) {
          Break("4.4: an outcome that is not the journal's");
        }
      }
      if (!found) Break("4.4: an outcome that the journal does not know");
    }
  }
}

}  // namespace skerry::coordinator
