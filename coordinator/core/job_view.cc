#include "coordinator/core/job_view.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "coordinator/core/holdings.h"
#include "coordinator/core/job_standing.h"
#include "coordinator/core/membership.h"
#include "coordinator/core/model_place.h"
#include "coordinator/core/placing.h"
#include "coordinator/core/seat_totals.h"

namespace skerry::coordinator {
namespace {

using protocol::SeatState;

const char* StateName(SeatState state) {
  switch (state) {
    case SeatState::kStarting:
      return "starting";
    case SeatState::kRecovering:
      return "recovering";
    case SeatState::kActive:
      return "active";
    case SeatState::kResting:
      return "resting";
    case SeatState::kFailed:
      return "failed";
  }
  return "";
}

SeatView ViewSeat(const JobState& job, const std::string& worker,
                  Incarnation incarnation, const SpanHolder& holder) {
  SeatView view;
  view.worker = worker;
  view.span_begin = holder.span_begin;
  view.span_end = holder.span_end;
  const Seat* seat = job.SeatOf(worker, incarnation);
  if (seat == nullptr) {
    view.state = "silent";
    return view;
  }
  view.state = StateName(seat->facts.state);
  view.error = seat->unfit.empty() ? seat->facts.error : seat->unfit;
  view.trainer_trouble = seat->facts.trainer_trouble;
  if (seat->facts.fragments.empty()) return view;
  uint64_t applied = 0;
  double squared_owed = 0;
  for (const FragmentFacts& facts : seat->facts.fragments) {
    applied += facts.applied.value();
    view.anchor_hashes.insert(view.anchor_hashes.end(),
                              facts.anchor_hashes.begin(),
                              facts.anchor_hashes.end());
    squared_owed += facts.owed_norm * facts.owed_norm;
  }
  view.applied = Sequence(applied);
  view.owed_norm = std::sqrt(squared_owed);
  for (const uint64_t hash : view.anchor_hashes) {
    view.anchor_hash = CombineHash(view.anchor_hash, hash);
  }
  return view;
}

// Workers that have no place because they cannot serve the job now.
void AddUnfit(const JobState& job, const WorkerTable& workers, JobView& view) {
  for (const auto& [name, seat] : job.seats) {
    const Worker* worker = workers.FindCurrent(name);
    if (worker == nullptr || worker->incarnation != seat.incarnation ||
        seat.unfit.empty() || job.replicas.FindWorker(name) != nullptr ||
        PlaceOf(job, worker->island, name) != nullptr) {
      continue;
    }
    ReplicaView r{job.replicas.NumberOf(worker->island),
                  Life(),
                  worker->island,
                  {},
                  false};
    r.seats.push_back(ViewSeat(job, name, seat.incarnation, SpanHolder{}));
    view.replicas.push_back(std::move(r));
  }
}

void AddReplicas(const JobState& job, const WorkerTable& workers,
                 JobView& view) {
  for (const auto& [life, replica] : job.replicas.current()) {
    ReplicaView r{replica.replica,
                  life,
                  replica.island,
                  {},
                  IsSuspected(replica, workers)};
    for (size_t rank = 0; rank < replica.holders.size(); ++rank) {
      r.seats.push_back(ViewSeat(job, replica.holders[rank].peer.worker,
                                 replica.incarnations[rank],
                                 replica.holders[rank]));
    }
    view.replicas.push_back(std::move(r));
  }
  for (const auto& [island, place] : job.places) {
    if (job.replicas.FindIsland(island) != nullptr) continue;
    ReplicaView r{job.replicas.NumberOf(island), Life(), island, {}, false};
    for (size_t rank = 0; rank < place.workers.size(); ++rank) {
      r.seats.push_back(
          ViewSeat(job, place.workers[rank], place.incarnations[rank],
                   place.holders.empty() ? SpanHolder{} : place.holders[rank]));
    }
    view.replicas.push_back(std::move(r));
  }
  if (!job.Ended()) AddUnfit(job, workers, view);
  std::stable_sort(view.replicas.begin(), view.replicas.end(),
                   [](const ReplicaView& a, const ReplicaView& b) {
                     return a.island < b.island;
                   });
}

// Returns the commits of all fragments, in the order in which they were made.
std::vector<const CommittedEntry*> History(const JobState& job) {
  std::vector<const CommittedEntry*> all;
  for (const RoundMachine& machine : job.fragments) {
    for (const CommittedEntry& entry : machine.history()) {
      if (entry.attempt.is_set()) all.push_back(&entry);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const CommittedEntry* a, const CommittedEntry* b) {
                     return a->state < b->state;
                   });
  return all;
}

void AddLosses(const JobState& job, JobView& view) {
  // With several fragments, the most samples that one of them has committed.
  uint64_t samples = 0;
  for (const CommittedEntry* entry : History(job)) {
    const Sequence state =
        entry->state == 0 ? entry->sequence : Sequence(entry->state);
    samples = job.fragments.size() == 1
                  ? entry->samples_committed
                  : std::max(samples, entry->samples_committed);
    LossPoint point{state, samples, entry->scalars.loss, std::nullopt};
    const auto evaluated = job.evaluations.find(state);
    if (evaluated != job.evaluations.end()) {
      point.validation_loss = evaluated->second.loss;
    }
    view.losses.push_back(point);
  }
}

// Returns the bytes that synchronous training by the replicas of each commit
// would have sent. At every inner step, a ring all-reduce of fp32 gradients
// among R replicas sends 2 (R - 1) x 4 bytes an element, over all replicas.
// Commits whose replicas are not known count nothing.
uint64_t SynchronousBytes(const JobState& job) {
  double bytes = 0;
  // The steps of a contribution are those of all fragments.
  for (const CommittedEntry& entry : job.fragments[0].history()) {
    const double others = entry.members > 1 ? entry.members - 1.0 : 0.0;
    bytes += 2.0 * others * 4.0 * static_cast<double>(job.element_count) *
             static_cast<double>(entry.scalars.inner_steps);
  }
  return bytes < 1.8e19 ? static_cast<uint64_t>(bytes) : ~uint64_t{0};
}

void AddCounters(const JobState& job, Instant now, JobView& view) {
  JobCounters& counters = view.counters;
  const SeatCounters totals = TotalsOf(job);
  counters.bulk_sent_bytes = totals.bulk_sent_bytes;
  counters.compute_s = totals.compute_s;
  counters.stall_s = totals.stall_s;
  counters.synchronous_bytes = SynchronousBytes(job);
  for (const RoundMachine& machine : job.fragments) {
    for (const CommittedEntry& entry : machine.history()) {
      counters.commits += entry.attempt.is_set() ? 1 : 0;
    }
    counters.attempts += machine.attempts_total();
    counters.contributions_dropped += machine.dropped_total();
  }
  counters.lives = job.replicas.lives();
  const double seconds = absl::ToDoubleSeconds(now - job.since);
  if (seconds > 0 && !job.Ended()) {
    counters.tokens_per_s =
        static_cast<double>(
            view.samples_committed -
            std::min(view.samples_committed, job.samples_at_start)) *
        job.spec.data.sequence_tokens.value_or(0) / seconds;
  }
}

// The first fragment with an open attempt; null when there is none.
const RoundMachine* FirstOpen(const JobState& job) {
  for (const RoundMachine& machine : job.fragments) {
    if (machine.open().has_value()) return &machine;
  }
  return nullptr;
}

}  // namespace

JobView ViewOf(const JobState& job, const WorkerTable& workers,
               const ClusterOptions& options, const Turn& turn,
               Revision revision, Instant now) {
  JobView view;
  view.id = job.id;
  view.spec = job.spec;
  view.phase = job.phase;
  view.paused = job.paused && !job.Ended();
  view.diverged = job.diverged.has_value() && !job.Ended();
  Standing standing = StandingOf(job, workers, options, turn, now);
  view.reason = std::move(standing.reason);
  view.conditions = std::move(standing.conditions);
  view.age = now - job.since;
  view.sequence = job.State();
  view.samples_committed = job.ledger.consumed().total();
  view.samples_total = job.spec.training.samples;
  view.tokens_per_sample = job.spec.data.sequence_tokens.value_or(0);
  view.parameters = job.element_count;
  view.validation_samples = job.validation_samples;
  view.revision = revision;
  view.queue_position = turn.position;
  view.queue_length = turn.position == 0 ? 0 : turn.length;
  if (job.fragments.size() > 1) {
    view.samples_partly = job.coverage.Partly().total();
  }
  if (const RoundMachine* machine = FirstOpen(job)) {
    view.open_attempt = machine->open()->attempt;
    view.open_tries = machine->tries();
  }
  if (!job.checkpoints.empty()) {
    view.checkpoint = job.checkpoints.back().sequence;
  }
  AddLosses(job, view);
  AddReplicas(job, workers, view);
  AddCounters(job, now, view);
  if (job.Ended()) view.model = PlaceOfModel(job, workers);
  return view;
}

std::vector<JobView> ViewAllJobs(const JobTable& jobs,
                                 const WorkerTable& workers,
                                 const ClusterOptions& options,
                                 Revision revision, Instant now) {
  std::vector<JobView> views;
  const JobQueue queue = jobs.QueueFor(workers);
  for (const auto& [id, job] : jobs.all()) {
    views.push_back(
        ViewOf(job, workers, options, queue.TurnOf(id), revision, now));
  }
  return views;
}

}  // namespace skerry::coordinator
