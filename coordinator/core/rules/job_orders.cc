#include "coordinator/core/rules/job_orders.h"

#include <algorithm>

#include "coordinator/core/rules/beginning.h"
#include "coordinator/core/rules/checkpoints.h"
#include "coordinator/core/rules/data_holders.h"
#include "coordinator/core/rules/evaluations.h"
#include "coordinator/core/rules/holdings.h"
#include "coordinator/core/rules/job_workers.h"
#include "coordinator/core/rules/lost_history.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/rules/placing.h"
#include "coordinator/core/rules/restore.h"

namespace skerry::coordinator {
namespace {

using protocol::FragmentOrders;
using protocol::OpenExchange;

const FragmentFacts* FactsOf(const Seat* seat, FragmentId fragment) {
  if (seat == nullptr) return nullptr;
  for (const FragmentFacts& facts : seat->facts.fragments) {
    if (facts.fragment == fragment) return &facts;
  }
  return nullptr;
}

// After `applied`.
void AddCommitted(const RoundMachine& machine, Sequence applied, size_t most,
                  FragmentOrders& orders) {
  const auto& history = machine.history();
  const size_t first = applied.value();
  for (size_t i = first; i < history.size() && i - first < most; ++i) {
    orders.committed.push_back(history[i]);
    orders.committed.back().members = 0;
  }
}

std::optional<OpenExchange> OpenFor(const JobState& job,
                                    const RoundMachine& machine, Life life,
                                    size_t index, Instant now) {
  if (job.Ended() || !machine.open().has_value() || !life.is_set() ||
      machine.open()->FindLife(life) == nullptr) {
    return std::nullopt;
  }
  const Opened& opened = machine.open()->opened;
  OpenExchange open;
  open.sequence = opened.sequence;
  open.attempt = machine.open()->attempt;
  open.members = opened.members;
  open.owners = opened.owners;
  open.hops = opened.hops;
  open.total_weight = opened.total_weight;
  open.deadline_in =
      std::max(job.timers[index].Deadline() - now, absl::ZeroDuration());
  open.reason = opened.reason;
  return open;
}

// Returns what the worker is told of its life's contributions. A reported
// contribution that is newer than all decided ones is pending. If the worker
// reports none, the one that the open attempt names is pending. Otherwise, the
// answer is the outcome of the newest decided one.
std::optional<Outcome> OutcomeFor(const RoundMachine& machine, Life life,
                                  const FragmentFacts* facts) {
  if (!life.is_set()) return std::nullopt;
  const std::optional<Outcome> decided = machine.OutcomeOf(life);
  const Round done = decided.has_value() ? decided->round : Round();
  if (facts != nullptr && facts->ready.has_value()) {
    const Round round = facts->ready->round;
    if (round > done) {
      return Outcome{round, Outcome::Kind::kPending, Attempt(), Sequence()};
    }
    return decided;
  }
  if (machine.open().has_value()) {
    if (const Member* member = machine.open()->FindLife(life)) {
      return Outcome{member->contribution.round, Outcome::Kind::kPending,
                     Attempt(), Sequence()};
    }
  }
  return decided;
}

// Whether the fragments deliver what they have, for there is nothing to train.
bool NothingLeft(const JobState& job, Life life) {
  return job.fragments.size() > 1 &&
         (job.paused || job.draining.contains(life) ||
          job.ledger.Pick(life, 1).empty());
}

// Whether some worker has not come to the state that a job has ended with.
bool LacksEnd(const JobState& job, const WorkerTable& workers) {
  for (const auto& [name, seat] : job.seats) {
    if (!workers.IsCurrent(name, seat.incarnation) || !seat.unfit.empty()) {
      continue;
    }
    for (const RoundMachine& machine : job.fragments) {
      const FragmentFacts* facts = FactsOf(&seat, machine.fragment());
      if (facts != nullptr && facts->applied < machine.newest()) return true;
    }
  }
  return false;
}

// Whether a worker that has started anew after the job's end serves what its
// disk has of it. A worker that does not tell of its folders is asked while
// somebody lacks the last state, which may be nowhere else.
bool MayHaveEnd(const JobState& job, const WorkerTable& workers,
                const Worker& worker) {
  if (!job.Ended()) return false;
  if (HasFolderOf(job, worker)) return true;
  return job.replicas.numbers().contains(worker.island) &&
         LacksEnd(job, workers);
}

// Whether what the worker's disk may have is needed. While others have lives, a
// worker that is left out is asked only when the wait for them is over: right
// after a commit nobody has applied it, and that is no loss.
bool MayHelp(const JobState& job, const WorkerTable& workers,
             const Worker& worker) {
  if (!MayHoldLost(job, workers, worker)) return false;
  return job.replicas.current().empty() ||
         (job.lost_spans.has_value() && job.lost_spans->all_asked) ||
         WhyLeftOut(job, workers, worker).empty();
}

// Whether the worker has something that no other has. While something is lost,
// it may be what this worker still reads or folds.
bool HasWhatOthersLack(const JobState& job, const WorkerTable& workers,
                       const Seat& seat, std::string_view name) {
  return !seat.facts.fragments.empty() &&
         !IsCoveredWithout(job, workers, name) &&
         (LostText(job, workers).empty() || MayBringLost(job, workers, seat));
}

// Whether other workers serve the job, and this one has nothing that they need.
bool IsLeftToOthers(const JobState& job, const WorkerTable& workers,
                    const Worker& worker) {
  const std::string& name = worker.self.worker;
  const Seat* seat = job.SeatOf(name, worker.incarnation);
  return !job.Ended() && seat != nullptr && seat->unfit.empty() &&
         CurrentReplicaOf(job, name, worker.incarnation) == nullptr &&
         PlaceOf(job, worker.island, name) == nullptr &&
         !WhyLeftOut(job, workers, worker).empty() &&
         !MayHelp(job, workers, worker) &&
         !HasWhatOthersLack(job, workers, *seat, name);
}

// What the worker has in the job; null where it has none.
struct Part {
  const Seat* seat;
  const Replica* replica;
  const Place* place;
};

// Whether the worker is told of the job.
bool IsTold(const JobState& job, const WorkerTable& workers,
            const Worker& worker, const Part& part) {
  if (part.seat == nullptr && !MayHaveEnd(job, workers, worker) &&
      (job.Ended() || (part.replica == nullptr && part.place == nullptr &&
                       !MayHelp(job, workers, worker)))) {
    return false;
  }
  // It has lost its turn before the job began. A failure stays known.
  const bool begun = job.Ended() || job.replicas.lives() > 0;
  if (!begun && part.place == nullptr && !MayHelp(job, workers, worker) &&
      (part.seat == nullptr || part.seat->unfit.empty())) {
    return false;
  }
  return !IsLeftToOthers(job, workers, worker);
}

void TellLife(const JobState& job, const Replica& replica, JobOrders& orders) {
  orders.life = replica.life;
  orders.replica = replica.replica;
  orders.holders = replica.holders;
  orders.granted = job.ledger.LeasedTo(replica.life);
  orders.nothing_left = NothingLeft(job, replica.life);
}

// What the worker holds or shall hold.
SpanHolder OwnSpans(const JobState& job, const std::vector<SpanHolder>& holders,
                    std::string_view name) {
  for (const SpanHolder& holder : holders) {
    if (holder.peer.worker == name) return holder;
  }
  SpanHolder own;
  // Who had no life at the end has no place; it folds on what it has.
  if (job.Ended()) own.span_end = job.span_count;
  return own;
}

}  // namespace

const std::vector<std::string>& JobOrdersWriter::Named() {
  if (!named_.has_value()) named_ = NamedWorkersOf(job_, workers_, options_);
  return *named_;
}

const Servers& JobOrdersWriter::ServersOf(size_t fragment) {
  std::optional<Servers>& servers = servers_[fragment];
  if (!servers.has_value()) {
    servers.emplace(job_, workers_, job_.fragments[fragment].fragment());
  }
  return *servers;
}

FragmentOrders JobOrdersWriter::FragmentFor(size_t index, const Seat* seat,
                                            const JobOrders& orders,
                                            std::string_view worker) {
  const RoundMachine& machine = job_.fragments[index];
  const FragmentFacts* facts = FactsOf(seat, machine.fragment());
  FragmentOrders fragment;
  fragment.fragment = machine.fragment();
  fragment.newest = machine.newest();
  if (facts != nullptr) {
    AddCommitted(machine, std::max(facts->applied, machine.floor()),
                 options_.committed_entries_max, fragment);
  }
  fragment.open = OpenFor(job_, machine, orders.life, index, now_);
  const bool in_life = seat != nullptr && seat->facts.life == orders.life;
  fragment.outcome =
      OutcomeFor(machine, orders.life, in_life ? facts : nullptr);
  fragment.keep_from = job_.keep_from[index];
  fragment.kept = KeptIn(job_, index);
  fragment.wanted = job_.wanted.contains({orders.life, machine.fragment()});
  const bool recovering = !orders.life.is_set();
  if (recovering || facts == nullptr ||
      facts->stored_through < machine.newest()) {
    const SpanHolder own = OwnSpans(job_, orders.holders, worker);
    fragment.sources = ServersOf(index).For(
        worker, own.span_begin, own.span_end, recovering, options_.sources_max);
  }
  return fragment;
}

std::optional<JobOrders> JobOrdersWriter::For(std::string_view name) {
  const Worker* worker = workers_.FindCurrent(name);
  if (worker == nullptr) return std::nullopt;
  const Seat* seat = job_.SeatOf(name, worker->incarnation);
  const Replica* replica = CurrentReplicaOf(job_, name, worker->incarnation);
  const Place* place = PlaceOf(job_, worker->island, name);
  // A job that has ended keeps the places of its end.
  const Replica* last = job_.Ended() ? job_.replicas.FindWorker(name) : nullptr;
  if (!IsTold(job_, workers_, *worker, {seat, replica, place})) {
    return std::nullopt;
  }
  JobOrders orders;
  orders.job = job_.id;
  orders.uid = UidOf(job_);
  orders.spec = job_.spec;
  orders.phase = job_.phase;
  orders.epoch = job_.epoch;
  orders.paused = job_.paused && !job_.Ended();
  orders.element_count = job_.element_count;
  orders.average_begin = job_.average_begin;
  if (MayBeginDifferently(job_.spec)) orders.initial_hash = job_.initial_hash;
  if (replica != nullptr) {
    TellLife(job_, *replica, orders);
  } else if (place != nullptr) {
    orders.holders = place->holders;
  } else if (last != nullptr) {
    orders.holders = last->holders;
  }
  for (size_t i = 0; i < job_.fragments.size(); ++i) {
    orders.fragments.push_back(FragmentFor(i, seat, orders, name));
  }
  if (const auto order = EvaluationOrderFor(job_, name)) {
    orders.evaluations.push_back(*order);
  }
  orders.checkpoint = CheckpointOrderFor(job_, name);
  orders.restored = RestoredStateOf(job_);
  orders.workers = Named();
  orders.data_holders = DataHoldersFor(job_, workers_, *worker);
  return orders;
}

}  // namespace skerry::coordinator
