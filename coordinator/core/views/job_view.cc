#include "coordinator/core/views/job_view.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "compression/codec.h"
#include "coordinator/core/rules/encoded_bytes.h"
#include "coordinator/core/rules/holdings.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/rules/placing.h"
#include "coordinator/core/rules/seat_totals.h"
#include "coordinator/core/views/job_standing.h"
#include "coordinator/core/views/model_place.h"

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
  view.counters = seat->facts.counters;
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

// The process whose words count for a worker of a replica or a place. Those of
// a job that has ended stay as they were at its end, and a worker that was
// started again since goes on keeping the state.
Incarnation SpeaksFor(const JobState& job, const WorkerTable& workers,
                      const std::string& worker, Incarnation then) {
  const Worker* now = job.Ended() ? workers.FindCurrent(worker) : nullptr;
  return now != nullptr ? now->incarnation : then;
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
      const std::string& worker = replica.holders[rank].peer.worker;
      r.seats.push_back(
          ViewSeat(job, worker,
                   SpeaksFor(job, workers, worker, replica.incarnations[rank]),
                   replica.holders[rank]));
    }
    view.replicas.push_back(std::move(r));
  }
  for (const auto& [island, place] : job.places) {
    if (job.replicas.FindIsland(island) != nullptr) continue;
    ReplicaView r{job.replicas.NumberOf(island), Life(), island, {}, false};
    for (size_t rank = 0; rank < place.workers.size(); ++rank) {
      r.seats.push_back(
          ViewSeat(job, place.workers[rank],
                   SpeaksFor(job, workers, place.workers[rank],
                             place.incarnations[rank]),
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

struct FragmentEntry {
  size_t fragment;
  const CommittedEntry* entry;
};

// Returns the entries of all fragments, in the order in which they were made.
std::vector<FragmentEntry> History(const JobState& job) {
  std::vector<FragmentEntry> all;
  for (size_t f = 0; f < job.fragments.size(); ++f) {
    for (const CommittedEntry& entry : job.fragments[f].history()) {
      all.push_back({f, &entry});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const FragmentEntry& a, const FragmentEntry& b) {
                     return a.entry->state < b.entry->state;
                   });
  return all;
}

void AddLosses(const JobState& job, JobView& view) {
  std::vector<uint64_t> samples(job.fragments.size());
  for (const auto& [fragment, entry] : History(job)) {
    const Sequence state =
        entry->state == 0 ? entry->sequence : Sequence(entry->state);
    samples[fragment] = entry->samples_committed;
    // It was set without an exchange.
    if (!entry->attempt.is_set()) continue;
    // A point stands where the fragment is that has committed most.
    LossPoint point{state, *std::max_element(samples.begin(), samples.end()),
                    std::nullopt, std::nullopt};
    if (!entry->scalars.no_loss) point.training_loss = entry->scalars.loss;
    const auto evaluated = job.evaluations.find(state);
    if (evaluated != job.evaluations.end()) {
      point.validation_loss = evaluated->second.loss;
    }
    view.losses.push_back(point);
    view.own_share = entry->scalars.own_share;
    view.late_steps = entry->scalars.late_steps;
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

// Returns the share of the workers' time that was not stalled, times the share
// of the samples that did not have to be given out again. Some of those had not
// been trained on yet when their life ended, so the loss is never counted too
// low.
std::optional<double> GoodputOf(const JobState& job,
                                const SeatCounters& totals) {
  const double busy = totals.compute_s + totals.stall_s;
  if (busy <= 0) return std::nullopt;
  const uint64_t committed = job.ledger.consumed().total();
  const uint64_t given = committed + job.audit.samples_returned();
  const double kept =
      given == 0 ? 1.0
                 : static_cast<double>(committed) / static_cast<double>(given);
  return kept * totals.compute_s / busy;
}

void AddExchange(const JobState& job, JobView& view) {
  const OpenAttempt* newest = nullptr;
  size_t fragment = 0;
  bool open = false;
  for (size_t f = 0; f < job.fragments.size(); ++f) {
    const RoundMachine& machine = job.fragments[f];
    const bool is_open = machine.open().has_value();
    const auto& attempt = is_open ? machine.open() : machine.closed();
    if (!attempt.has_value() ||
        (newest != nullptr && attempt->attempt < newest->attempt)) {
      continue;
    }
    newest = &*attempt;
    fragment = f;
    open = is_open;
  }
  if (newest == nullptr) return;
  const Opened& opened = newest->opened;
  ExchangeView& exchange = view.exchange.emplace();
  exchange.fragment = opened.fragment;
  exchange.sequence = opened.sequence;
  exchange.attempt = newest->attempt;
  exchange.open = open;
  exchange.hops = opened.hops == protocol::Hops::kTwo ? 2 : 1;
  exchange.elements = ElementsOf(job, fragment);
  exchange.reason = opened.reason;
  for (const protocol::Member& member : opened.members) {
    const uint64_t base = member.contribution.base.value();
    exchange.members.push_back(
        {member.replica,
         std::string(compression::CodecName(member.OfContributions())),
         std::string(compression::CodecName(member.OfResults())),
         static_cast<uint64_t>(
             EncodedBytes(member.OfContributions(), exchange.elements)),
         opened.sequence.value() - 1 - base, member.contribution.weight});
  }
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
  counters.goodput = GoodputOf(job, totals);
  const double seconds = absl::ToDoubleSeconds(now - job.since);
  if (seconds > 0 && !job.Ended()) {
    const auto samples = static_cast<double>(
        view.samples_committed -
        std::min(view.samples_committed, job.samples_at_start));
    counters.tokens_per_s =
        samples * job.spec.data.sequence_tokens.value_or(0) / seconds;
    counters.samples_per_s = samples / seconds;
  }
}

// Rounds have as many samples everywhere, so each worker counts as much.
void AddMetrics(const JobState& job, JobView& view) {
  std::map<std::string, int> counts;
  for (const auto& [life, replica] : job.replicas.current()) {
    for (size_t rank = 0; rank < replica.holders.size(); ++rank) {
      const Seat* seat = job.SeatOf(replica.holders[rank].peer.worker,
                                    replica.incarnations[rank]);
      if (seat == nullptr || seat->facts.life != life) continue;
      for (const auto& [name, value] : seat->facts.metrics) {
        if (view.metrics.size() == protocol::kMetricsMax &&
            !view.metrics.contains(name)) {
          continue;
        }
        double& mean = view.metrics[name];
        mean += (value - mean) / ++counts[name];
      }
    }
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
  view.samples_partly = job.coverage.Partly().total();
  if (const RoundMachine* machine = FirstOpen(job)) {
    view.open_attempt = machine->open()->attempt;
    view.open_tries = machine->tries();
  }
  if (!job.checkpoints.empty()) {
    view.checkpoint = job.checkpoints.back().sequence;
  }
  for (const Checkpointed& saved : job.checkpoints) {
    view.checkpoints.push_back({saved.sequence, saved.worker, saved.bytes});
  }
  AddLosses(job, view);
  AddReplicas(job, workers, view);
  AddExchange(job, view);
  AddCounters(job, now, view);
  AddMetrics(job, view);
  view.program_sha256 = job.program_sha256;
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
