#include "worker/core/testing/world.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "worker/core/testing/world_ports.h"

namespace skerry::worker {
namespace {

using protocol::Contribution;
using protocol::FragmentFacts;
using protocol::FragmentOrders;
using protocol::Member;
using protocol::SpanHolder;

constexpr absl::Duration kTick = absl::Milliseconds(5);
constexpr absl::Duration kAttempt = absl::Milliseconds(500);
const JobId kJob(7);

}  // namespace

World::World(WorldOptions options)
    : options_(std::move(options)), random_(options_.seed) {
  free_ = data::RangeSet(data::SampleRange{0, options_.settings.samples});
  parts_.resize(options_.settings.fragments);
  for (uint32_t r = 0; r < options_.replicas.size(); ++r) {
    Replica replica;
    replica.id = ReplicaId(r + 1);
    for (uint32_t k = 0; k < options_.replicas[r].size(); ++k) {
      const auto index = static_cast<uint32_t>(workers_.size());
      replica.workers.push_back(index);
      workers_.push_back(std::make_unique<Worker>(*this, index, r, k));
    }
    replicas_.push_back(std::move(replica));
  }
  for (uint32_t i = 0; i < workers_.size(); ++i) Start(i, true);
  Tick();
}

World::~World() {
  for (auto& worker : workers_) worker->alive.reset();
  for (auto& worker : workers_) worker->seat.reset();
}

void World::After(absl::Duration least, std::function<void()> task) {
  const auto more = absl::Microseconds(random_.Below(3000));
  events_.emplace(now_ + least + more, std::move(task));
}

bool World::RunUntil(const std::function<bool()>& stop, int events_max) {
  for (int i = 0; i < events_max; ++i) {
    if (stop()) return true;
    SKERRY_CHECK(!events_.empty());
    auto event = events_.extract(events_.begin());
    now_ = event.key();
    event.mapped()();
    Check();
    if (!failures_.empty()) return false;
  }
  return stop();
}

bool World::RunToSequence(uint64_t sequence) {
  return RunUntil([&] {
    for (uint32_t f = 0; f < fragments(); ++f) {
      if (newest(f).value() < sequence) return false;
    }
    for (const auto& worker : workers_) {
      if (worker->seat == nullptr || replicas_[worker->replica].dormant) {
        continue;
      }
      const JobFacts facts = worker->seat->Facts();
      for (const FragmentFacts& one : facts.fragments) {
        if (one.applied.value() < sequence) return false;
      }
    }
    return true;
  });
}

void World::Kill(uint32_t index) {
  Worker& worker = *workers_[index];
  worker.alive.reset();
  worker.trainer.reset();
  worker.cancel = nullptr;
  worker.loading.reset();
  worker.loaded = nullptr;
  worker.seat.reset();
  EndLife(replicas_[worker.replica]);
}

void World::Start(uint32_t index, bool with_disk) {
  Worker& worker = *workers_[index];
  worker.alive = std::make_shared<char>();
  worker.ahead.clear();
  if (!with_disk) worker.disk.clear();
  SeatOptions options;
  options.job = kJob;
  options.worker = worker.self.worker;
  options.part_bytes = options_.part_bytes;
  options.retry_interval = absl::Milliseconds(20);
  options.disk_retry_interval = absl::Milliseconds(50);
  for (const auto& [name, file] : worker.disk) {
    options.on_disk.push_back(file.first);
  }
  options.fragments = fragments();
  options.goes_on = options_.goes_on;
  worker.seat = std::make_unique<Seat>(
      std::move(options), Effects{worker, worker, worker, worker, worker});
  worker.told = true;  // a daemon's first Status
  worker.StartTrainer();
}

void World::FailTrainer(uint32_t index) {
  Worker& worker = *workers_[index];
  worker.Restart(absl::UnavailableError("it crashed"));
}

void World::SetDiskFull(uint32_t index, bool full) {
  workers_[index]->disk_full = full;
}

std::vector<std::string> World::LastEvents(uint32_t index) const {
  const auto& all = workers_[index]->events;
  const size_t from = all.size() > 8 ? all.size() - 8 : 0;
  return {all.begin() + from, all.end()};
}

Seat* World::seat(uint32_t index) { return workers_[index]->seat.get(); }

World::Worker* World::Find(const std::string& name) {
  for (auto& worker : workers_) {
    if (worker->self.worker == name) return worker.get();
  }
  return nullptr;
}

void World::Tick() {
  Coordinate();
  SendOrders();
  for (auto& worker : workers_) {
    if (worker->seat != nullptr) worker->seat->OnTime(now_);
  }
  events_.emplace(now_ + kTick, [this] { Tick(); });
}

void World::Coordinate() {
  for (Replica& replica : replicas_) {
    for (const uint32_t index : replica.workers) {
      const Seat* seat = workers_[index]->seat.get();
      if (seat != nullptr && replica.life.is_set() &&
          seat->Facts().abandoned_life == replica.life) {
        EndLife(replica);
      }
    }
    Admit(replica);
    Grant(replica);
  }
  for (uint32_t f = 0; f < fragments(); ++f) {
    Part& part = parts_[f];
    part.keep_from = KeepFrom(f);
    if (!part.open && !opening_paused_) OpenAttempt(f);
    if (part.open) Commit(f);
    if (part.open && now_ > part.deadline) Replace(f);
  }
}

void World::Admit(Replica& replica) {
  if (replica.life.is_set() || replica.dormant) return;
  for (const uint32_t index : replica.workers) {
    if (workers_[index]->seat == nullptr) return;
    const JobFacts facts = workers_[index]->seat->Facts();
    if (facts.state != protocol::SeatState::kRecovering) return;
    for (uint32_t f = 0; f < fragments(); ++f) {
      const FragmentFacts& one = facts.fragments[f];
      if (one.anchor_hashes.empty() ||
          one.applied.value() + 1 < newest(f).value()) {
        return;
      }
    }
  }
  replica.life = Life(++revision_);
  replica.outcomes.clear();
}

void World::EndLife(Replica& replica) {
  if (!replica.life.is_set()) return;
  ++revision_;
  // What the open attempt names follows that attempt.
  data::RangeSet named;
  for (const Part& part : parts_) {
    if (!part.open) continue;
    for (const Member& member : part.open->members) {
      if (member.life != replica.life) continue;
      named = named.Union(member.contribution.ranges);
    }
  }
  free_ = free_.Union(replica.leased.Subtract(named));
  replica.leased = data::RangeSet();
  replica.life = Life();
}

void World::Grant(Replica& replica) {
  if (!replica.life.is_set() || phase_ != JobPhase::kRunning || nothing_left_) {
    return;
  }
  const uint64_t round = uint64_t{options_.settings.tau} / fragments() *
                         options_.settings.batch_samples *
                         replica.workers.size();
  if (replica.leased.total() >= options_.rounds_ahead * round ||
      free_.empty()) {
    return;
  }
  replica.leased = replica.leased.Union(free_.TakeFirst(round));
  ++revision_;
}

std::vector<SpanHolder> World::HoldersOf(const Replica& replica) const {
  std::vector<SpanHolder> holders;
  for (size_t k = 0; k < replica.workers.size(); ++k) {
    const auto& [begin, end] = options_.replicas[replica.id.value() - 1][k];
    holders.push_back({begin, end, workers_[replica.workers[k]]->self});
  }
  return holders;
}

std::optional<Contribution> World::ReadyOf(const Replica& replica,
                                           uint32_t fragment) {
  if (!replica.life.is_set()) return std::nullopt;
  std::optional<Contribution> ready;
  for (const uint32_t index : replica.workers) {
    if (workers_[index]->seat == nullptr) return std::nullopt;
    const JobFacts facts = workers_[index]->seat->Facts();
    const std::optional<Contribution>& own = facts.fragments[fragment].ready;
    if (!own || facts.life != replica.life) return std::nullopt;
    const auto known = replica.outcomes.find({fragment, own->round.value()});
    if (known != replica.outcomes.end()) return std::nullopt;
    if (ready && ready->round != own->round) return std::nullopt;
    ready = own;
  }
  return ready;
}

void World::OpenAttempt(uint32_t fragment) {
  OpenExchange open;
  open.hops = options_.hops;
  size_t expected = 0;
  for (const Replica& replica : replicas_) {
    if (!replica.life.is_set() || replica.excluded) continue;
    ++expected;
    const auto ready = ReadyOf(replica, fragment);
    if (!ready) continue;
    const auto draw = [&](const auto& of, auto otherwise) {
      return of.empty() ? otherwise : of[random_.Below(of.size())];
    };
    const auto codec = draw(options_.codecs, options_.settings.codec);
    open.members.push_back({replica.id, replica.life, *ready,
                            HoldersOf(replica), codec,
                            draw(options_.result_codecs, codec)});
    open.total_weight += ready->weight;
  }
  if (open.members.empty() || open.members.size() < expected) return;
  open.sequence = Next(newest(fragment));
  open.attempt = Attempt(++revision_);
  const size_t spans = Cut()[fragment].size();
  for (size_t s = 0; s < spans; ++s) {
    open.owners.push_back((s + open.attempt.value()) % open.members.size());
  }
  parts_[fragment].open = open;
  parts_[fragment].deadline = now_ + kAttempt;
  Log(absl::StrCat("open ", open.sequence.value(), " with ",
                   open.members.size()));
}

// The deadline passed: whoever is ready now is named next. Ranges of lives that
// ended go free.
void World::Replace(uint32_t fragment) {
  for (const Member& member : parts_[fragment].open->members) {
    if (replicas_[member.replica.value() - 1].life == member.life) continue;
    free_ = free_.Union(member.contribution.ranges.Subtract(consumed_));
  }
  parts_[fragment].open.reset();
  ++revision_;
}

void World::Reopen(std::vector<uint32_t> excluded) {
  if (parts_[0].open) Replace(0);
  for (uint32_t r = 0; r < replicas_.size(); ++r) {
    replicas_[r].excluded =
        std::find(excluded.begin(), excluded.end(), r) != excluded.end();
  }
  OpenAttempt(0);
}

void World::Commit(uint32_t fragment) {
  const OpenExchange open = *parts_[fragment].open;
  std::vector<uint64_t> hashes(open.owners.size());
  std::vector<bool> known(open.owners.size());
  for (const Member& member : open.members) {
    const Replica& replica = replicas_[member.replica.value() - 1];
    if (replica.life != member.life) continue;
    for (const uint32_t index : replica.workers) {
      const FragmentFacts facts =
          workers_[index]->seat->Facts().fragments[fragment];
      if (!facts.stored || facts.stored->attempt != open.attempt) return;
      for (size_t i = 0; i < facts.stored->hashes.size(); ++i) {
        const size_t span = facts.span_begin + i;
        if (known[span] && hashes[span] != facts.stored->hashes[i]) {
          failures_.push_back("members report different hashes");
        }
        known[span] = true;
        hashes[span] = facts.stored->hashes[i];
      }
    }
  }
  if (std::find(known.begin(), known.end(), false) != known.end()) return;
  CommittedEntry entry;
  entry.sequence = open.sequence;
  entry.attempt = open.attempt;
  entry.hashes = hashes;
  entry.total_weight = open.total_weight;
  entry.scalars.own_share = options_.own_share;
  std::vector<CommittedEntry>& committed = parts_[fragment].committed;
  entry.samples_committed =
      (committed.empty() ? 0 : committed.back().samples_committed) +
      static_cast<uint64_t>(open.total_weight);
  for (uint32_t f = 0; fragments() > 1 && f < fragments(); ++f) {
    entry.state += newest(f).value() + (f == fragment ? 1 : 0);
  }
  for (const Member& member : open.members) {
    Replica& replica = replicas_[member.replica.value() - 1];
    consumed_ = consumed_.Union(member.contribution.ranges);
    if (replica.life != member.life) continue;
    replica.leased = replica.leased.Subtract(member.contribution.ranges);
    replica.outcomes[{fragment, member.contribution.round.value()}] = {
        member.contribution.round, protocol::Outcome::Kind::kCommitted,
        open.attempt, open.sequence};
  }
  ++revision_;
  Log(absl::StrCat("commit ", entry.sequence.value(), " ", hashes.front()));
  parts_[fragment].decoded_into_model += Decoded(fragment, entry);
  committed.push_back(std::move(entry));
  parts_[fragment].open.reset();
}

Sequence World::KeepFrom(uint32_t fragment) {
  std::optional<Sequence> common;
  for (Sequence candidate = newest(fragment);;
       candidate = Sequence(candidate.value() - 1)) {
    bool all = true;
    for (const auto& worker : workers_) {
      if (worker->seat == nullptr ||
          !replicas_[worker->replica].life.is_set()) {
        continue;
      }
      const FragmentFacts facts = worker->seat->Facts().fragments[fragment];
      all = all && std::any_of(facts.bases.begin(), facts.bases.end(),
                               [&](const protocol::HeldBase& b) {
                                 return b.sequence == candidate;
                               });
    }
    if (all) common = candidate;
    if (all || !candidate.is_set()) break;
  }
  Sequence keep = common.value_or(Sequence());
  for (const auto& worker : workers_) {
    if (worker->seat == nullptr) continue;
    const FragmentFacts facts = worker->seat->Facts().fragments[fragment];
    if (facts.pin.is_set()) keep = std::min(keep, facts.pin);
    // A worker that still folds needs what comes after its state.
    if (!facts.anchor_hashes.empty()) keep = std::min(keep, facts.applied);
  }
  return std::max(keep, parts_[fragment].keep_from);
}

JobOrders World::OrdersFor(uint32_t index) const {
  const Worker& worker = *workers_[index];
  const Replica& replica = replicas_[worker.replica];
  JobOrders orders;
  orders.job = kJob;
  orders.phase = phase_;
  orders.paused = job_paused_;
  orders.epoch = Epoch(1);
  orders.life = replica.life;
  orders.replica = replica.id;
  orders.holders = HoldersOf(replica);
  orders.granted = replica.leased;
  orders.nothing_left = nothing_left_;
  if (options_.own_initial) orders.initial_hash = InitialHash(0);
  orders.evaluations = evaluations_;
  orders.generate = generations_;
  const JobFacts own = worker.seat->Facts();
  for (uint32_t f = 0; f < fragments(); ++f) {
    orders.fragments.push_back(
        FragmentOrdersFor(worker, replica, f, own.fragments[f]));
  }
  return orders;
}

FragmentOrders World::FragmentOrdersFor(const Worker& worker,
                                        const Replica& replica, uint32_t f,
                                        const FragmentFacts& own) const {
  FragmentOrders orders;
  orders.fragment = FragmentId(f);
  const Part& part = parts_[f];
  orders.newest = newest(f);
  orders.keep_from = part.keep_from;
  orders.committed.assign(part.committed.begin() + own.applied.value(),
                          part.committed.end());
  if (own.ready) {
    const auto outcome = replica.outcomes.find({f, own.ready->round.value()});
    if (outcome != replica.outcomes.end()) orders.outcome = outcome->second;
  }
  if (part.open) {
    for (const Member& member : part.open->members) {
      if (member.replica == replica.id) orders.open = part.open;
    }
  }
  for (const auto& other : workers_) {
    if (other->seat == nullptr || other->index == worker.index) continue;
    const FragmentFacts facts = other->seat->Facts().fragments[f];
    const auto& [begin, end] = options_.replicas[other->replica][other->rank];
    protocol::Source source;
    source.holder = {begin, end, other->self};
    if (!facts.bases.empty()) {
      source.base = facts.bases.back().sequence;
      source.base_hashes = facts.bases.back().hashes;
    }
    source.results_from = facts.first_result_kept;
    source.results_through = facts.stored_through;
    orders.sources.push_back(source);
  }
  return orders;
}

void World::SendOrders() {
  for (auto& worker : workers_) {
    if (worker->seat == nullptr) continue;
    if (random_.Uniform() < options_.loss) continue;
    const auto send = [this, orders = OrdersFor(worker->index),
                       revision = Revision(revision_), index = worker->index,
                       weak = std::weak_ptr<char>(worker->alive)] {
      if (!weak.expired()) {
        workers_[index]->seat->OnOrders(now_, revision, orders,
                                        options_.settings);
      }
    };
    After(absl::Milliseconds(1), send);
    if (random_.Uniform() < options_.repeat) {
      After(absl::Milliseconds(25), send);
    }
  }
}

float World::InitialValue(uint64_t element) {
  return static_cast<float>(RandomAt(11, element) % 1000) / 1000.0f;
}

float World::Target(uint32_t replica, uint64_t element) const {
  return static_cast<float>(RandomAt(13 + replica, element) % 1000) / 500.0f;
}

void World::Train(uint32_t replica, const data::RangeSet& ranges,
                  uint64_t batch, std::vector<float>& live) const {
  const auto rate = static_cast<float>(options_.inner_rate);
  data::RangeSet rest = ranges;
  while (!rest.empty()) {
    const data::RangeSet step = rest.TakeFirst(batch);
    const uint64_t key = step.ranges().front().begin;
    for (uint64_t i = 0; i < live.size(); ++i) {
      const double noise =
          options_.noise *
          (static_cast<double>(RandomAt(key, i) >> 11) * 0x1.0p-53 - 0.5);
      live[i] -=
          rate * (live[i] - Target(replica, i)) + static_cast<float>(noise);
    }
  }
}

}  // namespace skerry::worker
