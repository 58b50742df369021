// The coordinator's side of the model, and what may happen next.
#include "tests/exhaustive/model.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tests/exhaustive/hashes.h"

namespace skerry::exhaustive {
namespace {

using coordinator::Cluster;
using coordinator::Committed;
using coordinator::Entry;
using coordinator::JobSpec;
using coordinator::StatusFacts;

constexpr absl::Duration kLease = absl::Hours(1);
// Timers of rounds are shorter by far, so that no silence counts meanwhile.
constexpr absl::Duration kNear = absl::Minutes(6);
constexpr int kStepsToEnd = 600;
constexpr int kWaitsMax = 30;

constexpr const char* kNames[] = {
    "tell",   "tell_old",  "hear",  "recover", "fold",     "begin",
    "finish", "frames",    "store", "lie",     "evaluate", "save",
    "kill",   "lose_disk", "start", "expire",  "deadline", "crash"};

coordinator::ClusterOptions OptionsOfModel() {
  coordinator::ClusterOptions options;
  options.lease = kLease;
  options.settle = absl::Seconds(1);
  options.takeover_wait = absl::Seconds(1);
  options.attempt_deadline_min = absl::Seconds(1);
  options.final_evaluation_max = absl::Seconds(20);
  options.checkpoint_max = absl::Seconds(20);
  options.restore_wait = absl::Seconds(1);
  return options;
}

JobSpec SpecOf(const Scenario& scenario) {
  JobSpec spec;
  spec.name = "job";
  spec.model.config_json = R"({"n_positions": 64})";
  spec.data.path = "/data/text";
  spec.data.manifest_sha256 = std::string(64, 'a');
  spec.training.samples = scenario.samples;
  spec.training.batch_samples = 1;
  spec.training.tau = 1;
  spec.training.evaluate_every = 100;
  spec.outer.method = coordinator::OuterMethod::kLocalSgd;
  spec.exchange.spans = scenario.spans;
  spec.exchange.quorum = scenario.quorum;
  spec.exchange.carry = scenario.carry;
  if (scenario.saves) spec.checkpoint = JobSpec::Checkpoints{"/blobs", 1, 100};
  return spec;
}

}  // namespace

std::string ToText(const Action& action) {
  return absl::StrCat(kNames[static_cast<int>(action.act)], " ", action.worker);
}

Model::Model(const Scenario& scenario, sim::Violations& found)
    : scenario_(scenario),
      found_(&found),
      ledger_(found),
      options_(OptionsOfModel()),
      cluster_(options_),
      left_(scenario.budget) {
  cluster_.Recovered(now_);
  const auto job = cluster_.Submit(SpecOf(scenario), "key", now_);
  SKERRY_CHECK(job.ok());
  job_ = job->job;
  Settle();
  for (size_t i = 0; i < scenario.islands.size(); ++i) {
    Worker& worker = workers_.emplace_back();
    worker.name = absl::StrCat("w", i);
    worker.island = scenario.islands[i];
    Boot(worker);
  }
}

Model::Model(const Model& other)
    : scenario_(other.scenario_),
      found_(other.found_),
      ledger_(other.ledger_),
      options_(other.options_),
      cluster_(other.cluster_.Clone()),
      journal_(other.journal_),
      job_(other.job_),
      left_(other.left_),
      now_(other.now_),
      workers_(other.workers_),
      frames_(other.frames_),
      opened_(other.opened_),
      anchors_(other.anchors_),
      fates_(other.fates_),
      blobs_(other.blobs_),
      ended_(other.ended_),
      succeeded_(other.succeeded_) {}

void Model::Break(const std::string& what) { found_->Add(what); }

// Makes what was decided durable.
void Model::Settle() {
  for (const Entry& entry : cluster_.TakeRecords()) {
    journal_.push_back(entry);
    OnRecord(entry);
  }
  cluster_.TakeTouched();
  cluster_.CheckInvariants();
}

void Model::OnRecord(const Entry& entry) {
  ledger_.OnDurable(entry);
  if (const auto* open = std::get_if<coordinator::Opened>(&entry.record)) {
    frames_.clear();
    opened_.clear();
    opened_[entry.index.value()] = *open;
  } else if (const auto* commit = std::get_if<Committed>(&entry.record)) {
    OnCommit(*commit);
  } else if (const auto* drop =
                 std::get_if<coordinator::Dropped>(&entry.record)) {
    fates_[{drop->life.value(), drop->round.value()}] = false;
  } else if (const auto* back =
                 std::get_if<coordinator::Restored>(&entry.record)) {
    const uint64_t from = back->checkpoint.value();
    if (back->checkpoint.is_set() && !blobs_.contains(back->checkpoint)) {
      Break("the job goes back to a state that was not saved");
      return;
    }
    const auto state = anchors_.at(from);
    anchors_.push_back(state);
  } else if (const auto* saved =
                 std::get_if<coordinator::Checkpointed>(&entry.record)) {
    if (saved->error.empty() && !blobs_.contains(saved->sequence)) {
      Break("a checkpoint is listed that is not whole");
    }
  } else if (const auto* end =
                 std::get_if<coordinator::JobEnded>(&entry.record)) {
    ended_ = true;
    succeeded_ = end->phase == coordinator::JobPhase::kSucceeded;
  }
}

void Model::OnCommit(const Committed& commit) {
  const coordinator::Opened& open = opened_[commit.attempt.value()];
  if (anchors_.empty()) {
    anchors_.emplace_back();
    for (uint32_t span = 0; span < commit.hashes.size(); ++span) {
      anchors_.back().push_back(InitialAnchor(span));
    }
  }
  std::vector<uint64_t> next;
  for (uint32_t span = 0; span < commit.hashes.size(); ++span) {
    if (commit.hashes[span] != ResultHash(commit.attempt, open.members, span)) {
      Break("A2: what is committed is not the sum over the members");
    }
    next.push_back(FoldAnchor(anchors_.back().at(span), commit.hashes[span]));
  }
  anchors_.push_back(std::move(next));
  for (const coordinator::Member& member : open.members) {
    fates_[{member.life.value(), member.contribution.round.value()}] = true;
  }
}

void Model::Deliver(Worker& worker, const StatusFacts& status) {
  const absl::Status taken = cluster_.OnStatus(status, now_);
  Settle();
  if (absl::IsAborted(taken) && worker.alive && worker.boot == status.boot) {
    Boot(worker);
  } else if (!taken.ok() && !absl::IsAborted(taken)) {
    Break(absl::StrCat("a Status is refused: ", taken.message()));
  }
}

void Model::Crash() {
  const uint64_t before = cluster_.StateHash();
  Cluster next(options_);
  for (const Entry& entry : journal_) {
    if (!next.Apply(entry).ok()) Break("the journal does not replay");
  }
  if (next.StateHash() != before) Break("a replay gives another state");
  Cluster short_cut(options_);
  if (!short_cut.Restore(cluster_.Save()).ok() ||
      short_cut.StateHash() != before) {
    Break("a snapshot gives another state");
  }
  cluster_ = std::move(next);
  cluster_.Recovered(now_);
  Settle();
  // Streams are new, so everyone speaks again.
  for (Worker& worker : workers_) {
    worker.told = 0;
    worker.heard = 0;
  }
}

// Everyone else is heard of meanwhile.
void Model::Expire(Worker& dead) {
  for (int part = 0; part < 2; ++part) {
    now_ = now_ + 0.6 * kLease;
    for (size_t i = 0; i < workers_.size(); ++i) {
      if (workers_[i].alive) Do({Act::kTell, i});
    }
  }
  cluster_.Tick(now_);
  Settle();
  SKERRY_CHECK(cluster_.ViewWorker(dead.name, now_).ok());
}

bool Model::DeadlineIsNear() const {
  const auto next = cluster_.NextDeadline();
  return next.has_value() && *next <= now_ + kNear;
}

// Who is there is heard of meanwhile, if it takes long.
void Model::PassDeadline() {
  for (int waits = 0; waits < kWaitsMax && !DeadlineIsNear(); ++waits) {
    now_ = now_ + kNear;
    for (Worker& worker : workers_) {
      if (worker.alive) Tell(worker);
    }
  }
  now_ = std::max(now_, *cluster_.NextDeadline());
  cluster_.Tick(now_);
  Settle();
}

std::vector<Action> Model::Actions(bool with_faults) const {
  std::vector<Action> actions;
  if (ended_) return actions;
  for (size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    const auto add = [&](bool possible, Act act) {
      if (possible) actions.push_back({act, i});
    };
    if (!worker.alive) {
      add(true, Act::kStart);
      add(with_faults && left_.expiries > 0 && worker.incarnation.is_set() &&
              cluster_.OrdersFor(worker.name, now_).ok(),
          Act::kExpire);
      add(with_faults && left_.disk_losses > 0 &&
              !(worker.disk.bases.empty() && worker.disk.results.empty()),
          Act::kLoseDisk);
      continue;
    }
    const Seat& seat = worker.seat;
    add(worker.told != MemoryHash(worker), Act::kTell);
    const auto orders = cluster_.OrdersFor(worker.name, now_);
    add(orders.ok() && orders->boot == worker.boot &&
            HashOf(*orders) != worker.heard,
        Act::kHear);
    if (seat.is_there && !seat.resting) {
      add(CanRecover(worker, false, nullptr), Act::kRecover);
      add(!seat.life.is_set() && seat.applied.has_value() &&
              Foldable(worker, *seat.applied) != nullptr,
          Act::kFold);
      add(CanBegin(i, nullptr, nullptr), Act::kBegin);
      add(seat.running.has_value(), Act::kFinish);
      const coordinator::Member* member = OpenMember(worker);
      add(member != nullptr &&
              !frames_.contains(
                  {seat.orders.fragments[0].open->attempt.value(), i}),
          Act::kFrames);
      add(CanStore(worker), Act::kStore);
      // What a lone member says is the truth.
      add(with_faults && left_.lies > 0 && CanStore(worker) &&
              seat.orders.fragments[0].open->members.size() > 1,
          Act::kLie);
    }
    const auto& evaluations = seat.orders.evaluations;
    add(seat.is_there && !evaluations.empty() && seat.applied.has_value() &&
            *seat.applied == evaluations[0].sequence &&
            !seat.evaluated.contains(evaluations[0].sequence),
        Act::kEvaluate);
    add(seat.is_there && seat.orders.checkpoint.has_value() &&
            (!seat.saved.has_value() ||
             seat.saved->sequence != seat.orders.checkpoint->sequence),
        Act::kSave);
    add(with_faults && left_.kills > 0, Act::kKill);
    add(with_faults && left_.late > 0 && worker.before.has_value(),
        Act::kTellOld);
  }
  const bool is_idle = actions.empty() && cluster_.NextDeadline().has_value();
  if (is_idle || (DeadlineIsNear() && with_faults && left_.deadlines > 0)) {
    actions.push_back({Act::kDeadline});
  }
  if (with_faults && left_.coordinator_crashes > 0) {
    actions.push_back({Act::kCrash});
  }
  return actions;
}

void Model::Do(const Action& action) {
  Worker& worker = workers_[action.worker];
  switch (action.act) {
    case Act::kTellOld:
      --left_.late;
      return Deliver(worker, *std::exchange(worker.before, std::nullopt));
    case Act::kKill:
      --left_.kills;
      worker.alive = false;
      worker.seat = Seat();
      cluster_.OnStreamLost(worker.name, worker.boot, now_);
      return Settle();
    case Act::kLoseDisk:
      --left_.disk_losses;
      worker.disk = Disk();
      return;
    case Act::kStart:
      worker.alive = true;
      return Boot(worker);
    case Act::kExpire:
      --left_.expiries;
      return Expire(worker);
    case Act::kLie:
      --left_.lies;
      return Store(worker, true);
    case Act::kDeadline:
      left_.deadlines -= left_.deadlines > 0 ? 1 : 0;
      return PassDeadline();
    case Act::kCrash:
      --left_.coordinator_crashes;
      return Crash();
    default:
      return GoOn(action.act, action.worker);
  }
}

// What brings the job on.
void Model::GoOn(Act act, size_t index) {
  Worker& worker = workers_[index];
  Seat& seat = worker.seat;
  switch (act) {
    case Act::kTell:
      return Tell(worker);
    case Act::kHear:
      return Hear(worker);
    case Act::kRecover:
      CanRecover(worker, true, &seat);
      return CheckAnchors(worker);
    case Act::kFold:
      FoldOne(worker);
      return CheckAnchors(worker);
    case Act::kBegin:
      return Begin(index);
    case Act::kFinish:
      return Finish(seat);
    case Act::kFrames:
      frames_.insert({seat.orders.fragments[0].open->attempt.value(), index});
      return;
    case Act::kStore:
      return Store(worker, false);
    case Act::kEvaluate:
      seat.evaluated.insert(seat.orders.evaluations[0].sequence);
      return;
    case Act::kSave:
      return Save(worker);
    default:
      SKERRY_CHECK(false);
  }
}

bool Model::RunsToItsEnd(std::vector<std::string>* way) {
  for (int step = 0; step < kStepsToEnd && !ended_; ++step) {
    const std::vector<Action> actions = Actions(false);
    if (actions.empty()) return false;
    // Each in its turn.
    const Action& next = actions[static_cast<size_t>(step) % actions.size()];
    way->push_back(ToText(next));
    Do(next);
  }
  return succeeded_;
}

}  // namespace skerry::exhaustive
