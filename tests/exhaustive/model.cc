// The coordinator's side of the model, and what comes over it.
#include "tests/exhaustive/model.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "job/testing/specs.h"

namespace skerry::exhaustive {
namespace {

using coordinator::Cluster;
using coordinator::Entry;
using job::JobSpec;
using protocol::StatusFacts;

constexpr absl::Duration kLease = absl::Hours(1);
// Timers of rounds are shorter by far, so that no silence counts meanwhile.
constexpr absl::Duration kNear = absl::Minutes(6);
constexpr int kStepsToBegin = 400;
constexpr int kStepsToEnd = 800;
constexpr int kWaitsMax = 30;

coordinator::ClusterOptions OptionsOf(const Scenario& scenario) {
  coordinator::ClusterOptions options;
  options.lease = kLease;
  options.settle = absl::Seconds(1);
  options.takeover_wait = absl::Seconds(1);
  options.attempt_deadline_min = absl::Seconds(1);
  options.final_evaluation_max = absl::Seconds(20);
  options.checkpoint_max = absl::Seconds(20);
  options.restore_wait = absl::Seconds(1);
  options.pin_sequences_max = scenario.pin_max;
  return options;
}

job::JobSpec SpecOf(const Scenario& scenario) {
  job::JobSpec spec;
  spec.name = "job";
  spec.model.config_json = job::kTinyConfig;
  spec.data.path = "/data/text";
  spec.data.manifest_sha256 = std::string(64, 'a');
  spec.training.samples = scenario.samples;
  spec.training.batch_samples = 1;
  spec.training.tau = scenario.fragments;
  spec.training.evaluate_every = 100;
  spec.outer.method = job::OuterMethod::kLocalSgd;
  spec.exchange.spans = scenario.spans;
  spec.exchange.fragments = scenario.fragments;
  spec.exchange.quorum = scenario.quorum;
  spec.exchange.carry = scenario.carry;
  const size_t joiners = scenario.joiner.has_value() ? 1 : 0;
  if (scenario.program) {
    spec.model.config_json.clear();
    spec.model.program = job::JobSpec::Program{kProgram};
    spec.data = {};
    LeaveToProgram(spec.training);
  }
  spec.placement.workers_min =
      static_cast<uint32_t>(scenario.islands.size() - joiners);
  if (scenario.saves)
    spec.checkpoint = job::JobSpec::Checkpoints{"/blobs", 1, 100};
  return spec;
}

}  // namespace

Model::Model(const Scenario& scenario, sim::Violations& found)
    : scenario_(scenario),
      found_(&found),
      ledger_(found),
      options_(OptionsOf(scenario)),
      cluster_(options_),
      left_(scenario.budget),
      history_(scenario_, found) {
  cluster_.Recovered(now_);
  const auto job = cluster_.Submit(SpecOf(scenario), "key", now_);
  SKERRY_CHECK(job.ok());
  job_ = job->job;
  Settle();
  for (size_t i = 0; i < scenario.islands.size(); ++i) {
    WorkerState& worker = workers_.emplace_back();
    worker.name = absl::StrCat("w", i);
    worker.island = scenario.islands[i];
    worker.alive = i != scenario.joiner;
    if (worker.alive) Boot(worker);
  }
  if (scenario.begins_at.has_value()) RunToBeginning();
  commits_before_ = history_.commits();
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
      first_kill_(other.first_kill_),
      workers_(other.workers_),
      frames_(other.frames_),
      history_(other.history_),
      commits_before_(other.commits_before_) {}

void Model::RunToBeginning() {
  for (int step = 0; step < kStepsToBegin; ++step) {
    bool begun = history_.commits() >= *scenario_.begins_at;
    for (size_t i = 0; i < workers_.size(); ++i) {
      if (i != scenario_.joiner) begun &= workers_[i].seat.life.is_set();
    }
    if (begun) return;
    std::vector<Action> actions = Actions(false);
    std::erase_if(actions, [&](const Action& action) {
      return action.act == Act::kStart && action.worker == scenario_.joiner;
    });
    SKERRY_CHECK(!actions.empty());
    Do(actions[static_cast<size_t>(step) % actions.size()]);
  }
  SKERRY_CHECK(false);
}

// Makes what was decided durable.
void Model::Settle() {
  for (const Entry& entry : cluster_.TakeRecords()) {
    journal_.push_back(entry);
    OnRecord(entry);
  }
  cluster_.TakeTouched();
  cluster_.CheckInvariants();
}

// Why a life ends, and when a job goes back.
void Model::CheckEnd(const Entry& entry) const {
  if (const auto* over =
          std::get_if<coordinator::ReplicaEnded>(&entry.record)) {
    bool goes_on = scenario_.budget.lies > 0;
    for (const WorkerState& worker : workers_) {
      if (worker.seat.life != over->life) continue;
      goes_on &= worker.alive;
    }
    const size_t there = static_cast<size_t>(std::count_if(
        workers_.begin(), workers_.end(), [&](const WorkerState& worker) {
          return worker.seat.life == over->life;
        }));
    if (goes_on && there > 0) history_.OnJudged(over->life);
  }
  const auto* back = std::get_if<coordinator::Restored>(&entry.record);
  if (back != nullptr && back->initial_hash != 0) {
    CheckBeginning(*back);
  } else if (back != nullptr && (!first_kill_.has_value() ||
                                 now_ < *first_kill_ + options_.restore_wait)) {
    Break("5.6: a disk that may come back is not waited for");
  }
}

// Other values are taken for the job's: nothing may be lost by it.
void Model::CheckBeginning(const coordinator::Restored& record) const {
  if (history_.commits() > 0) {
    Break("5.11: the job begins anew although something is committed");
  } else if (record.checkpoint.is_set()) {
    Break("5.11: a checkpoint begins with other values than it has");
  }
}

uint64_t Model::InitialHash(const WorkerState& worker) const {
  if (!scenario_.program) return 0;
  const auto index = static_cast<uint64_t>(&worker - workers_.data());
  return 1000 * (index + 1) + worker.starts;
}

void Model::OnRecord(const Entry& entry) {
  CheckEnd(entry);
  ledger_.OnDurable(entry);
  history_.OnRecord(entry);
  std::erase_if(frames_, [&](const Frame& frame) {
    for (uint32_t f = 0; f < scenario_.fragments; ++f) {
      if (history_.IsOpen(f, Attempt(frame.attempt))) return false;
    }
    return true;
  });
}

void Model::Deliver(WorkerState& worker, const StatusFacts& status) {
  const absl::Status taken = cluster_.OnStatus(status, now_);
  if (taken.ok()) history_.OnSaid(status);
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
  history_.OnCrash();
  cluster_.Recovered(now_);
  Settle();
  // Streams are new, so everyone speaks again.
  for (WorkerState& worker : workers_) {
    worker.told = 0;
    worker.heard = 0;
  }
}

// Everyone else is heard of meanwhile.
void Model::Expire(WorkerState& dead) {
  for (int part = 0; part < 2; ++part) {
    now_ = now_ + 0.6 * kLease;
    for (WorkerState& worker : workers_) {
      if (worker.alive) Tell(worker);
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
    for (WorkerState& worker : workers_) {
      if (worker.alive) Tell(worker);
    }
  }
  if (const auto next = cluster_.NextDeadline()) now_ = std::max(now_, *next);
  cluster_.Tick(now_);
  Settle();
}

bool Model::RunsToItsEnd(std::vector<std::string>* way) {
  for (int step = 0; step < kStepsToEnd && !history_.ended(); ++step) {
    if (found_->count() > 0) break;
    const std::vector<Action> actions = Actions(false);
    if (actions.empty()) break;
    // Each in its turn.
    const Action& next = actions[static_cast<size_t>(step) % actions.size()];
    way->push_back(ToText(next));
    Do(next);
  }
  if (!history_.succeeded()) way->push_back(ToText());
  return history_.succeeded();
}

std::string Model::ToText() const {
  std::string text = history_.ended() ? "ended" : "goes on";
  if (const auto view = cluster_.ViewJob(job_, now_); view.ok()) {
    absl::StrAppend(&text, "; ", view->reason);
  }
  for (const WorkerState& worker : workers_) {
    const Seat& seat = worker.seat;
    absl::StrAppend(&text, "; ", worker.name, worker.alive ? "" : " down",
                    " life ", seat.life.value());
    for (uint32_t f = 0; f < seat.parts.size(); ++f) {
      const auto oldest = seat.parts[f].Oldest();
      absl::StrAppend(&text, " at ",
                      oldest.has_value() ? absl::StrCat(oldest->value()) : "-",
                      " of ", seat.orders.fragments[f].newest.value(),
                      " keeps ", seat.orders.fragments[f].keep_from.value(),
                      seat.parts[f].ready.has_value() ? " ready" : "");
    }
  }
  return text;
}

}  // namespace skerry::exhaustive
