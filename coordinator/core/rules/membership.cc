#include "coordinator/core/rules/membership.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/rules/chase.h"
#include "coordinator/core/rules/checkpoints.h"
#include "coordinator/core/rules/holdings.h"
#include "coordinator/core/rules/job_workers.h"
#include "coordinator/core/rules/offers.h"
#include "coordinator/core/rules/placing.h"
#include "coordinator/core/rules/seat_totals.h"
#include "coordinator/core/state/layout.h"

namespace skerry::coordinator {
namespace {

using Islands = absl::btree_map<std::string, std::vector<std::string>>;

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Workers that may have a place, by island, in name order.
Islands Eligible(const JobState& job, const Decider& decider) {
  Islands islands;
  const Turn turn = decider.turn(job.id);
  if (!turn.held.empty()) return islands;
  for (const auto& [name, worker] : decider.workers.all()) {
    const Seat* seat = job.SeatOf(name, worker.incarnation);
    if (seat != nullptr && !seat->unfit.empty()) continue;
    if (!WhyNoPlace(job.spec, NeededBy(job), decider.workers, worker, turn,
                    decider.options)
             .empty()) {
      continue;
    }
    islands[worker.island].push_back(name);
  }
  return islands;
}

std::vector<std::string> WorkersOf(const Replica& replica) {
  std::vector<std::string> names;
  for (const SpanHolder& holder : replica.holders) {
    names.push_back(holder.peer.worker);
  }
  return names;
}

// Those of `first` that are eligible, then others by name: where there are more
// workers than spans, who has worked goes on.
std::vector<std::string> Preferred(const std::vector<std::string>& first,
                                   const std::vector<std::string>& eligible) {
  std::vector<std::string> names;
  for (const std::string& name : first) {
    if (Contains(eligible, name)) names.push_back(name);
  }
  for (const std::string& name : eligible) {
    if (!Contains(names, name)) names.push_back(name);
  }
  return names;
}

// Ranks go by name: the same workers hold the same spans in every life, in
// whatever order they came, and fold on from their own disks.
Place MakePlace(const JobState& job, const WorkerTable& workers,
                std::vector<std::string> names) {
  Place place;
  if (job.Sized() && names.size() > job.span_count) {
    names.resize(job.span_count);
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    place.incarnations.push_back(workers.FindCurrent(name)->incarnation);
  }
  if (job.Sized()) {
    const auto parts =
        SplitSpans(job.span_count, static_cast<uint32_t>(names.size()));
    for (size_t rank = 0; rank < names.size(); ++rank) {
      place.holders.push_back({parts[rank].first, parts[rank].second,
                               workers.FindCurrent(names[rank])->self, 0});
    }
  }
  place.workers = std::move(names);
  return place;
}

bool StillSettling(JobState& job, const std::string& island,
                   const std::vector<std::string>& eligible, Instant now) {
  const auto it = job.settling.find(island);
  if (it == job.settling.end()) return false;
  const bool back = std::all_of(
      it->second.workers.begin(), it->second.workers.end(),
      [&](const std::string& name) { return Contains(eligible, name); });
  if (!back && now < it->second.until) return true;
  job.settling.erase(it);
  return false;
}

// Empty when the island needs no place. Where a trainer cannot compute with
// others, one worker trains for the island.
std::vector<std::string> NextWorkers(JobState& job, const Decider& decider,
                                     const std::string& island,
                                     const std::vector<std::string>& eligible) {
  const bool alone = TrainsAlone(job, decider.workers, island);
  if (const Replica* replica = job.replicas.FindIsland(island)) {
    const std::vector<std::string> members = WorkersOf(*replica);
    for (const std::string& name : members) {
      if (!Contains(eligible, name)) return {};
    }
    const bool full = job.Sized() && members.size() >= job.span_count;
    if (full || alone || members.size() == eligible.size()) return {};
    return Preferred(members, eligible);
  }
  if (StillSettling(job, island, eligible, decider.now)) return {};
  const auto old = job.places.find(island);
  std::vector<std::string> names =
      Preferred(old == job.places.end() ? std::vector<std::string>{}
                                        : old->second.workers,
                eligible);
  if (alone) names.resize(1);
  return names;
}

void RefreshPlaces(JobState& job, const Decider& decider) {
  job.places_stale = false;
  Islands islands = Eligible(job, decider);
  size_t total = 0;
  for (const auto& [island, names] : islands) total += names.size();
  const bool started = job.replicas.lives() > 0;
  if (!started && total < job.spec.placement.workers_min) islands.clear();
  absl::btree_map<std::string, Place> places;
  bool changed = false;
  for (const auto& [island, eligible] : islands) {
    std::vector<std::string> names =
        NextWorkers(job, decider, island, eligible);
    if (names.empty()) continue;
    Place place = MakePlace(job, decider.workers, std::move(names));
    const auto old = job.places.find(island);
    if (old != job.places.end() && old->second.workers == place.workers &&
        old->second.incarnations == place.incarnations) {
      place.ready_since = old->second.ready_since;
      place.chase = old->second.chase;
    }
    if (old == job.places.end() || old->second.holders != place.holders ||
        old->second.workers != place.workers) {
      job.touched.insert(place.workers.begin(), place.workers.end());
      changed = true;
    }
    places.emplace(island, std::move(place));
  }
  for (const auto& [island, old] : job.places) {
    if (places.contains(island)) continue;
    job.touched.insert(old.workers.begin(), old.workers.end());
  }
  job.places = std::move(places);
  // The new ones will ask the others for the job's state.
  if (changed) TellWorkers(job, decider.options);
}

// How far a worker has folded on exactly the spans of its place.
enum class Recovered {
  kNear,    // to within a sequence of the newest, or is just folding on
  kBehind,  // to within a sequence of the newest
  kLevel,   // to the newest
};

bool HasRecovered(const JobState& job, const Place& place, size_t rank,
                  Recovered least) {
  const Seat* seat = job.SeatOf(place.workers[rank], place.incarnations[rank]);
  if (seat == nullptr || seat->facts.life.is_set() ||
      seat->facts.state != protocol::SeatState::kRecovering) {
    return false;
  }
  const SpanHolder& holder = place.holders[rank];
  for (const RoundMachine& machine : job.fragments) {
    const auto& all = seat->facts.fragments;
    const auto facts =
        std::find_if(all.begin(), all.end(), [&](const FragmentFacts& f) {
          return f.fragment == machine.fragment();
        });
    // Its spans are not at one sequence while it folds.
    const bool folds = least == Recovered::kNear && facts != all.end() &&
                       facts->anchor_hashes.empty() && facts->applied.is_set();
    const uint64_t behind_max = least == Recovered::kLevel ? 0 : 1;
    if (facts == all.end() || facts->span_begin != holder.span_begin ||
        (!folds &&
         facts->anchor_hashes.size() != holder.span_end - holder.span_begin) ||
        facts->applied < machine.floor() ||
        facts->applied.value() + behind_max < machine.newest().value() ||
        facts->applied > machine.newest()) {
      return false;
    }
  }
  return true;
}

bool AllRecovered(const JobState& job, const Place& place) {
  if (place.holders.empty()) return false;
  for (size_t rank = 0; rank < place.workers.size(); ++rank) {
    if (!HasRecovered(job, place, rank, Recovered::kBehind)) return false;
  }
  return true;
}

bool JoinersRecovered(const JobState& job, const Place& place,
                      const Replica& replica, Recovered least) {
  if (place.holders.empty()) return false;
  for (size_t rank = 0; rank < place.workers.size(); ++rank) {
    if (replica.RankOf(place.workers[rank]) >= 0) continue;
    if (!HasRecovered(job, place, rank, least)) return false;
  }
  return true;
}

std::string Joiners(const Place& place, const Replica& replica) {
  std::string names;
  for (const std::string& name : place.workers) {
    if (replica.RankOf(name) >= 0) continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ", name);
  }
  return names;
}

// The old life ends at a moment when all that is lost is the running round.
void TakeOver(JobState& job, const Decider& decider) {
  std::vector<std::pair<Life, std::string>> ending;
  for (auto& [island, place] : job.places) {
    const Replica* replica = job.replicas.FindIsland(island);
    if (replica == nullptr) continue;
    if (!JoinersRecovered(job, place, *replica, Recovered::kNear)) {
      place.ready_since.reset();
      continue;
    }
    const absl::Duration wait = decider.options.takeover_wait;
    if (!place.ready_since.has_value() ||
        (job.fragments.size() > 1 &&
         *place.ready_since + 2 * wait <= decider.now)) {
      place.ready_since = decider.now;
    }
    // Where nothing is committed for it, what is pending cannot end either.
    const bool waited = *place.ready_since + wait <= decider.now ||
                        IsAwaited(place, decider.options, decider.now);
    if (HasPending(job, *replica) && !waited) continue;
    // All the way: the others then hold fewer spans than before, and what they
    // give up may be nowhere else.
    if (!JoinersRecovered(job, place, *replica, Recovered::kLevel)) continue;
    ending.emplace_back(
        replica->life,
        absl::StrCat("island ", island, " forms its replica anew with ",
                     Joiners(place, *replica), ", which has recovered"));
  }
  for (auto& [life, reason] : ending) {
    EndLife(job, decider, life, std::move(reason));
  }
  if (!ending.empty()) RefreshPlaces(job, decider);
}

void Admit(JobState& job, const Decider& decider) {
  if (job.diverged.has_value()) return;
  size_t placed = 0;
  size_t ready = 0;
  std::vector<std::string> islands;
  for (const auto& [island, place] : job.places) {
    if (job.replicas.FindIsland(island) != nullptr) continue;
    placed += place.workers.size();
    if (!AllRecovered(job, place)) continue;
    ready += place.workers.size();
    islands.push_back(island);
  }
  const size_t wanted =
      std::min<size_t>(placed, job.spec.placement.workers_min);
  const bool started = job.replicas.lives() > 0;
  if (islands.empty() || (!started && ready < wanted)) return;
  if (!started && !CheckpointFolderTrouble(job).empty()) return;
  // One that is a sequence behind would wait for ever for a result that nobody
  // has.
  if (job.replicas.current().empty() &&
      !LostText(job, decider.workers).empty()) {
    return;
  }
  std::string reason;
  for (const std::string& island : islands) {
    const Place place = job.places.at(island);
    const ReplicaId number = job.replicas.NumberOf(island);
    decider.emit(ReplicaAdmitted{job.id, number, island, place.holders,
                                 place.incarnations});
    absl::StrAppend(&reason, reason.empty() ? "" : "; ", "replica ",
                    number.value(), " of island ", island, " joins with ",
                    place.workers.size(), " worker(s)");
    job.places.erase(island);
  }
  decider.emit(Planned{job.id, job.spec.training.tau, job.spec.exchange.codec,
                       std::move(reason)});
  job.places_stale = true;
}

// Lives whose workers can no longer do their part.
void EndUnfit(JobState& job, const Decider& decider) {
  std::vector<std::pair<Life, std::string>> ending;
  for (const auto& [life, replica] : job.replicas.current()) {
    for (size_t rank = 0; rank < replica.holders.size(); ++rank) {
      const std::string& name = replica.holders[rank].peer.worker;
      const Seat* seat = job.SeatOf(name, replica.incarnations[rank]);
      if (seat == nullptr) continue;
      if (!seat->unfit.empty()) {
        ending.emplace_back(life, absl::StrCat("worker ", name,
                                               " cannot go on: ", seat->unfit));
        break;
      }
      if (seat->facts.abandoned_life == life ||
          (seat->joined == life && seat->facts.life != life)) {
        ending.emplace_back(
            life, absl::StrCat("worker ", name, " has given the life up",
                               seat->facts.error.empty() ? "" : ": ",
                               seat->facts.error));
        break;
      }
    }
  }
  for (auto& [life, reason] : ending) {
    EndLife(job, decider, life, std::move(reason));
  }
}

Round NewestRound(const JobState& job, const Replica& replica) {
  Round newest;
  for (const RoundMachine& machine : job.fragments) {
    if (const auto outcome = machine.OutcomeOf(replica.life)) {
      newest = std::max(newest, outcome->round);
    }
    for (size_t rank = 0; rank < replica.holders.size(); ++rank) {
      const FragmentFacts* facts =
          FactsInLife(job, replica, rank, machine.fragment());
      if (facts != nullptr && facts->ready.has_value()) {
        newest = std::max(newest, facts->ready->round);
      }
    }
  }
  return newest;
}

Round NewestOutcome(const JobState& job, Life life) {
  Round newest;
  for (const RoundMachine& machine : job.fragments) {
    const auto outcome = machine.OutcomeOf(life);
    if (outcome.has_value()) newest = std::max(newest, outcome->round);
  }
  return newest;
}

// The first of its workers that leaves; null when all stay.
const Worker* LeavingOf(const Replica& replica, const WorkerTable& workers) {
  for (const SpanHolder& holder : replica.holders) {
    const Worker* worker = workers.FindCurrent(holder.peer.worker);
    if (worker != nullptr && worker->Leaves()) return worker;
  }
  return nullptr;
}

void EndDrained(JobState& job, const Decider& decider) {
  std::vector<std::pair<Life, std::string>> ending;
  for (const auto& [life, replica] : job.replicas.current()) {
    const Worker* worker = LeavingOf(replica, decider.workers);
    if (worker == nullptr) {
      job.draining.erase(life);
      continue;
    }
    const std::string& name = worker->self.worker;
    const auto [drain, fresh] = job.draining.try_emplace(
        life, Drain{decider.now, NewestRound(job, replica)});
    if (HasPending(job, replica) ||
        !IsCoveredWithout(job, decider.workers, name)) {
      continue;
    }
    // What one fragment has, the others shall have as well.
    const bool delivered = !job.ledger.HasDue(life) &&
                           (NewestOutcome(job, life) > drain->second.decided ||
                            job.ledger.LeasedTo(life).empty());
    const bool decided =
        delivered || drain->second.since + decider.options.lease <= decider.now;
    if (!decided) continue;
    ending.emplace_back(life, absl::StrCat("worker ", name, " drains"));
  }
  for (auto& [life, reason] : ending) {
    EndLife(job, decider, life, std::move(reason));
  }
}

}  // namespace

void LoseWorker(JobState& job, const Decider& decider, std::string_view worker,
                const std::string& reason) {
  CountLost(job, decider, worker);
  job.seats.erase(worker);
  job.places_stale = true;
  const Replica* replica = job.replicas.FindWorker(worker);
  if (replica == nullptr || job.Ended()) return;
  if (replica->holders.size() > 1) {
    job.settling[replica->island] = {decider.now + decider.options.settle,
                                     WorkersOf(*replica)};
  }
  EndLife(job, decider, replica->life, reason);
}

void DecideMembership(JobState& job, const Decider& decider) {
  EndUnfit(job, decider);
  EndDrained(job, decider);
  bool settled = false;
  for (const auto& [island, settling] : job.settling) {
    settled |= settling.until <= decider.now;
  }
  if (job.places_stale || settled) RefreshPlaces(job, decider);
  TakeOver(job, decider);
  Admit(job, decider);
  WatchChases(job, decider);
}

void CollectMembership(const JobState& job, const ClusterOptions& options,
                       Earliest& earliest) {
  for (const auto& [island, settling] : job.settling) {
    earliest.Consider(settling.until);
  }
  for (const auto& [island, place] : job.places) {
    if (place.ready_since.has_value()) {
      earliest.Consider(*place.ready_since + options.takeover_wait);
      if (job.fragments.size() > 1) {
        earliest.Consider(*place.ready_since + 2 * options.takeover_wait);
      }
    }
  }
  for (const auto& [life, drain] : job.draining) {
    earliest.Consider(drain.since + options.lease);
  }
  CollectChases(job, options, earliest);
}

bool AwaitsJoiner(const JobState& job, const ClusterOptions& options,
                  Instant now) {
  if (AwaitsChaser(job, options, now)) return true;
  if (job.fragments.size() == 1) return false;
  for (const auto& [island, place] : job.places) {
    if (place.ready_since.has_value() &&
        *place.ready_since + options.takeover_wait <= now &&
        now < *place.ready_since + 2 * options.takeover_wait) {
      return true;
    }
  }
  return false;
}

const Place* PlaceOf(const JobState& job, std::string_view island,
                     std::string_view worker) {
  const auto it = job.places.find(std::string(island));
  if (it == job.places.end() || !Contains(it->second.workers, worker)) {
    return nullptr;
  }
  return &it->second;
}

}  // namespace skerry::coordinator
