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
    for (size_t f = 0; f < seat.parts.size(); ++f) {
      StepExchange(job, worker, seat, f);
    }
    StepEvaluation(seat);
  }
}

void ScriptedWorld::StepRecovery(JobId job, FakeWorker& worker,
                                 FakeSeat& seat) {
  if (seat.started > now_) return;
  for (size_t f = 0; f < seat.parts.size(); ++f) {
    while (ApplyOne(job, worker, seat, f)) {
    }
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
                                                size_t part, Sequence applied) {
  if (part >= seat.orders.fragments.size() ||
      seat.parts[part].anchors.empty()) {
    return nullptr;
  }
  for (const CommittedEntry& entry : seat.orders.fragments[part].committed) {
    if (entry.sequence != Next(applied)) continue;
    for (uint32_t span = seat.span_begin; span < seat.span_end; ++span) {
      if (!CanFetch(job, entry.sequence, entry.attempt, span)) return nullptr;
    }
    return &entry;
  }
  return nullptr;
}

bool ScriptedWorld::ApplyOne(JobId job, FakeWorker& worker, FakeSeat& seat,
                             size_t index) {
  FakePart& part = seat.parts[index];
  const CommittedEntry* entry = Applicable(job, seat, index, part.applied);
  if (entry == nullptr) return false;
  for (uint32_t span = seat.span_begin; span < seat.span_end; ++span) {
    worker.disks()[job]
        .results[{entry->sequence.value(), entry->attempt.value(), span}] =
        entry->hashes[span];
    part.anchors[span] = FoldAnchor(part.anchors[span], entry->hashes[span]);
  }
  part.applied = entry->sequence;
  return true;
}

void ScriptedWorld::StepExchange(JobId job, FakeWorker& worker, FakeSeat& seat,
                                 size_t index) {
  FakePart& part = seat.parts[index];
  const auto open = seat.Open(index);
  if (!open.has_value() || !part.ready.has_value() || !seat.life.is_set()) {
    return;
  }
  const Member* own = nullptr;
  for (const Member& member : open->members) {
    if (member.life == seat.life) own = &member;
  }
  if (own == nullptr || own->contribution.round != part.ready->round) return;
  if (open->attempt > part.joined) {
    part.joined = open->attempt;
    part.frames_at = now_ + absl::Milliseconds(random_.Below(300));
    // One minority at most, and not twice for one sequence: more cannot be told
    // from the truth.
    part.lies = Faulty() && worker.name() == "w2" &&
                open->members.size() >= 3 && Chance(options_.lie) &&
                lied_.insert({job, open->sequence}).second;
  }
  if (open->attempt != part.joined || part.frames_at > now_) return;
  frames_[{open->attempt.value(), worker.name()}] = true;
  if (part.stored.has_value() && part.stored->attempt == open->attempt) return;
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
  protocol::StoredResult stored{open->sequence, open->attempt, {}, 1.0};
  for (uint32_t span = seat.span_begin; span < seat.span_end; ++span) {
    const uint64_t hash = ResultHash(open->attempt, open->members, span);
    stored.hashes.push_back(part.lies ? hash + 1 : hash);
    if (part.lies) continue;
    worker.disks()[job]
        .results[{open->sequence.value(), open->attempt.value(), span}] = hash;
  }
  part.stored = std::move(stored);
}

void ScriptedWorld::StepEvaluation(FakeSeat& seat) {
  for (const protocol::EvaluationOrder& order : seat.orders.evaluations) {
    if (seat.State() != order.sequence || !Chance(0.2)) continue;
    const protocol::EvaluationFact fact{order.sequence, 2.0, order.samples_max};
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
// reach, of every fragment in which nothing was learnt since its boundary;
// false while one is behind the others.
bool ScriptedWorld::AgreeOnCut(JobId job,
                               const std::vector<FakeWorker*>& workers) {
  for (FakeWorker* worker : workers) {
    if (worker->draining()) return false;
  }
  const size_t parts = workers.front()->seats()[job].parts.size();
  for (size_t f = 0; f < parts; ++f) {
    Sequence cut(~uint64_t{0});
    Sequence least;
    bool ahead = false;
    for (FakeWorker* worker : workers) {
      const FakeSeat& seat = worker->seats()[job];
      ahead |= !seat.parts[f].trained.empty();
      least = std::max(least, seat.parts[f].applied);
      Sequence reach = seat.parts[f].applied;
      while (Applicable(job, seat, f, reach) != nullptr) reach = Next(reach);
      cut = std::min(cut, reach);
    }
    if (ahead) continue;
    if (cut < least) return false;
    for (FakeWorker* worker : workers) {
      FakeSeat& seat = worker->seats()[job];
      while (seat.parts[f].applied < cut) ApplyOne(job, *worker, seat, f);
    }
  }
  return true;
}

std::optional<size_t> ScriptedWorld::Delivers(
    JobId job, const std::vector<FakeWorker*>& workers, bool awaits) {
  const FakeSeat& head = workers.front()->seats()[job];
  bool all = head.orders.nothing_left;
  for (FakeWorker* worker : workers) all |= worker->draining();
  for (size_t f = 0; head.parts.size() > 1 && f < head.parts.size(); ++f) {
    bool can = all || (awaits && head.orders.fragments[f].wanted);
    for (FakeWorker* worker : workers) {
      const FakePart& part = worker->seats()[job].parts[f];
      can &= !part.trained.empty() && !part.ready.has_value();
    }
    if (can) return f;
  }
  return std::nullopt;
}

// The boundary of PROTOCOL 4.2 for all workers of a replica at once.
void ScriptedWorld::StepReplica(JobId job, std::vector<FakeWorker*>& workers) {
  FakeSeat& head = workers.front()->seats()[job];
  if (workers.size() != head.orders.holders.size()) return;
  const uint32_t delay = OuterDelay(head.orders.spec);
  bool awaits = false;
  for (FakeWorker* worker : workers) {
    FakeSeat& seat = worker->seats()[job];
    if (seat.running.has_value() && seat.running->ends > now_ &&
        !worker->draining()) {
      return;
    }
    if (seat.newest_round != head.newest_round) return;
    // One pending contribution a fragment: its outcome is waited for.
    if (seat.running.has_value() &&
        seat.parts[seat.running->turn].ready.has_value()) {
      return;
    }
  }
  if (head.running.has_value()) {
    for (FakeWorker* worker : workers) {
      FakeSeat& seat = worker->seats()[job];
      seat.Deliver(seat.running->turn, seat.running->round);
      seat.running.reset();
    }
  }
  for (FakeWorker* worker : workers) {
    for (const FakePart& part : worker->seats()[job].parts) {
      awaits |= delay == 0 && part.at_boundary && part.ready.has_value();
    }
  }
  data::RangeSet ranges;
  if (!awaits && AgreeOnCut(job, workers) && !head.orders.paused) {
    data::RangeSet fresh = head.orders.granted.Subtract(head.used);
    for (FakeWorker* worker : workers) {
      const FakeSeat& seat = worker->seats()[job];
      fresh = fresh.Intersect(seat.orders.granted);
    }
    const auto& training = head.orders.spec.training;
    ranges = fresh.TakeFirst(uint64_t{training.tau} / head.parts.size() *
                             training.batch_samples * workers.size());
  }
  if (ranges.empty()) {
    const auto part = Delivers(job, workers, awaits);
    if (!part.has_value()) return;
    for (FakeWorker* worker : workers) {
      FakeSeat& seat = worker->seats()[job];
      seat.newest_round = Next(seat.newest_round);
      seat.Deliver(*part, seat.newest_round);
    }
    return;
  }
  const size_t turn = head.NextTurn();
  const bool slow = workers.front()->name() == "w0";
  const Instant ends = now_ + (slow ? options_.slowness : 1) *
                                  absl::Milliseconds(40 + random_.Below(160));
  for (FakeWorker* worker : workers) {
    FakeSeat& seat = worker->seats()[job];
    seat.used = seat.used.Union(ranges);
    seat.newest_round = Next(seat.newest_round);
    for (FakePart& part : seat.parts) {
      part.trained = part.trained.Union(ranges);
      part.at_boundary = false;
    }
    seat.running = FakeRound{seat.newest_round, turn, ends};
  }
}

void ScriptedWorld::CheckWorkers() {
  for (const auto& worker : workers_) {
    for (const auto& [job, seat] : worker->seats()) {
      const Truth& truth = truth_[job];
      for (size_t f = 0; f < seat.parts.size(); ++f) {
        const FakePart& part = seat.parts[f];
        const TruePart& real = truth.parts.at(f);
        if (part.applied > real.newest) {
          Break("A1: applied above committed");
          continue;
        }
        for (const auto& [span, anchor] : part.anchors) {
          const uint64_t expected =
              part.applied.is_set()
                  ? real.anchors.at(part.applied.value() - 1).at(span)
                  : span;
          if (anchor != expected) Break("A1: an anchor is not the fold");
        }
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
