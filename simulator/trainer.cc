#include "simulator/trainer.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace skerry::sim {
namespace {

using worker::Done;

}  // namespace

void TrainerIslands::Meet(JobId job, Step step,
                          const worker::TrainerGroup& group, Arrival arrival) {
  const Key key{job.value(), group.life.value(), step};
  auto& here = waiting_[key];
  here[group.rank] = std::move(arrival);
  if (here.size() < group.size) return;
  for (const auto& [rank, one] : here) {
    if (one.alive.expired()) return;
  }
  const std::map<uint32_t, Arrival> all = std::move(here);
  waiting_.erase(key);
  if (step == Step::kLoad) {
    for (const auto& [from, source] : all) {
      for (const auto& [to, target] : all) {
        std::copy(source.shared->begin() + source.range.begin,
                  source.shared->begin() + source.range.end,
                  target.live->begin() + source.range.begin);
      }
    }
  }
  for (const auto& [rank, one] : all) one.go_on();
}

SimTrainer::SimTrainer(const TrainerShape& shape,
                       std::unique_ptr<SimModel> model, Process& process,
                       Random& random, const worker::SeatAnswers& answers,
                       TrainerIslands& islands, worker::JobListener& listener,
                       Trains trains)
    : shape_(shape),
      model_(std::move(model)),
      process_(process),
      random_(random),
      answers_(answers),
      islands_(islands),
      listener_(listener),
      trains_(std::move(trains)) {}

void SimTrainer::Later(absl::Duration wait, runtime::Task task) {
  process_.RunAt(process_.Now() + wait,
                 [this, alive = std::weak_ptr<char>(alive_),
                  task = std::move(task)]() mutable {
                   if (!alive.expired() && !hang_.has_value()) {
                     std::move(task)();
                   }
                 });
}

void SimTrainer::Enter(worker::TrainerPhase phase) {
  progress_.phase = phase;
  progress_.waits_for_group = false;
  ++progress_.pieces;
  step_time_ = absl::ZeroDuration();
}

void SimTrainer::Stand(Hang how) {
  if (!running_ || hang_.has_value()) return;
  // What it has done so far is all that it will say.
  const std::optional<worker::TrainerProgress> last = Progress();
  if (last.has_value()) progress_ = *last;
  progress_.waits_for_group = false;
  step_time_ = absl::ZeroDuration();
  hang_ = how;
}

std::optional<worker::TrainerProgress> SimTrainer::Progress() const {
  if (!running_ || hang_ == Hang::kStopped) return std::nullopt;
  worker::TrainerProgress now = progress_;
  if (step_time_ > absl::ZeroDuration()) {
    const auto steps = static_cast<uint64_t>(
        std::max<int64_t>(0, (process_.Now() - run_since_) / step_time_));
    now.steps += steps;
    now.pieces += steps;
  }
  return now;
}

absl::Duration SimTrainer::Moment() {
  return absl::Microseconds(100 + random_.Below(2000));
}

absl::Duration SimTrainer::CopyTime(const ElementRange& range) {
  if (!shape_.pace.host.has_value()) return Moment();
  return absl::Nanoseconds(1) *
         (shape_.pace.host->copy_ns * static_cast<double>(range.size()));
}

absl::Duration SimTrainer::EvaluationTime(uint64_t samples) {
  if (!shape_.pace.evaluation.has_value()) return 10 * Moment();
  return shape_.compute * (*shape_.pace.evaluation * samples);
}

void SimTrainer::Ask(
    absl::AnyInvocable<void(absl::StatusOr<worker::TrainerProgress>) &&> done) {
  const std::optional<worker::TrainerProgress> progress = Progress();
  if (progress.has_value()) std::move(done)(*progress);
}

void SimTrainer::OnMeet(const worker::MeetRequest&,
                        worker::GroupMeeting::Answer answer) {
  std::move(answer)(absl::UnimplementedError("trainers meet by themselves"));
}

void SimTrainer::Start(const worker::TrainerStart&) {
  running_ = true;
  hang_.reset();
  progress_ = {};
  Enter(worker::TrainerPhase::kBuilding);
  LeaveAll();
  group_ = {};
  shared_ = std::make_shared<std::vector<float>>(model_->elements());
  live_.resize(model_->elements());
  model_->Initialize(live_);
  ++starts_;
  StirInitial();
  Later(shape_.pace.trainer_start.has_value()
            ? *shape_.pace.trainer_start
            : absl::Milliseconds(20 + random_.Below(200)),
        [this] {
          Enter(worker::TrainerPhase::kIdle);
          worker::TrainerDescription ready{
              model_->elements(),
              1'000'000'000,
              1000.0,
              shape_.validation_samples,
              Hash64Of(std::span<const float>(live_)),
              1};
          ready.average_begin = shape_.average_begin;
          ready.groups = shape_.groups;
          listener_.OnTrainerReady({.description = ready});
        });
}

void SimTrainer::StirInitial() {
  if (!shape_.own_initial.has_value()) return;
  const uint64_t own = *shape_.own_initial;
  const uint64_t key = CombineHash(own, own % 2 == 1 ? starts_ : 0);
  for (uint64_t i = 0; i < live_.size(); ++i) {
    live_[i] += static_cast<float>(RandomAt(key, i) % 1000) * 0x1.0p-12f;
  }
}

void SimTrainer::LeaveAll() {
  alive_ = std::make_shared<char>();
  meeting_ = nullptr;
  abort_ = nullptr;
}

void SimTrainer::Drop() {
  running_ = false;
  hang_.reset();
  LeaveAll();
}

void SimTrainer::Fail(const absl::Status& why) {
  if (!std::exchange(running_, false)) return;
  hang_.reset();
  LeaveAll();
  Later(Moment(), [this, why] { listener_.OnTrainerFailed(why); });
}

void SimTrainer::Meet(TrainerIslands::Step step, const ElementRange& range,
                      Done<absl::Status> done) {
  auto answer = std::make_shared<Done<absl::Status>>(std::move(done));
  auto is_over = std::make_shared<bool>(false);
  Enter(step == TrainerIslands::Step::kJoin ? worker::TrainerPhase::kJoining
                                            : worker::TrainerPhase::kCopying);
  // A trainer that hangs does not come as far as its meeting with the others.
  if (hang_.has_value()) return;
  progress_.waits_for_group = true;
  meeting_ = std::make_shared<char>();
  const auto end = [this, answer, is_over](const absl::Status& status) {
    if (std::exchange(*is_over, true)) return;
    // Whoever comes later must not meet a member that has given up.
    meeting_ = nullptr;
    Later(Moment(), [this, answer, status] {
      Enter(worker::TrainerPhase::kIdle);
      answers_.Wrap(std::move(*answer))(status);
    });
  };
  abort_ = [end] { end(absl::AbortedError("cancelled")); };
  Later(shape_.meeting_max, [end] {
    end(absl::AbortedError("a member of the group did not come"));
  });
  islands_.Meet(shape_.job, step, group_,
                {meeting_, range, shared_.get(), &live_,
                 [end] { end(absl::OkStatus()); }});
}

void SimTrainer::JoinGroup(const worker::TrainerGroup& group,
                           Done<absl::Status> done) {
  group_ = group;
  Meet(TrainerIslands::Step::kJoin, {}, std::move(done));
}

void SimTrainer::Load(const ElementRange& range, Done<absl::Status> done) {
  Meet(TrainerIslands::Step::kLoad, range, std::move(done));
}

void SimTrainer::StartRun(const data::RangeSet& ranges,
                          const data::RangeSet& /*upcoming*/, uint64_t batch,
                          Done<absl::StatusOr<worker::RunReport>> done) {
  using Report = absl::StatusOr<worker::RunReport>;
  auto answer = std::make_shared<Done<Report>>(std::move(done));
  auto is_over = std::make_shared<bool>(false);
  Enter(worker::TrainerPhase::kTraining);
  // A trainer that hangs takes no step, and does not hear that it should stop.
  if (hang_.has_value()) return;
  abort_ = [this, answer, is_over] {
    if (std::exchange(*is_over, true)) return;
    Later(Moment(), [this, answer] {
      Enter(worker::TrainerPhase::kIdle);
      answers_.Wrap(std::move(*answer))(
          Report(absl::AbortedError("cancelled")));
    });
  };
  const absl::Duration took =
      shape_.compute * static_cast<double>(ranges.total()) *
      (1 - shape_.pace.jitter + 2 * shape_.pace.jitter * random_.Uniform()) /
      group_.size;
  const uint64_t steps = (ranges.total() + batch - 1) / batch;
  trains_(true, live_);
  run_since_ = process_.Now();
  step_time_ = took / static_cast<int64_t>(std::max<uint64_t>(1, steps));
  Later(took, [this, ranges, batch, answer, is_over, took, steps] {
    if (std::exchange(*is_over, true)) return;
    progress_.steps += steps;
    progress_.longest_step = std::max(progress_.longest_step, step_time_);
    Enter(worker::TrainerPhase::kIdle);
    worker::RunReport report;
    report.loss = model_->Train(ranges, batch, live_);
    trains_(false, live_);
    report.samples = ranges.total();
    report.inner_steps = steps;
    report.compute_s = absl::ToDoubleSeconds(took);
    answers_.Wrap(std::move(*answer))(Report(report));
  });
}

void SimTrainer::Cancel() {
  if (abort_) std::exchange(abort_, nullptr)();
}

void SimTrainer::Snapshot(const ElementRange& range, Done<absl::Status> done) {
  abort_ = nullptr;
  Enter(worker::TrainerPhase::kCopying);
  Later(CopyTime(range), [this, range, done = std::move(done)]() mutable {
    Enter(worker::TrainerPhase::kIdle);
    std::copy(live_.begin() + range.begin, live_.begin() + range.end,
              shared_->begin() + range.begin);
    answers_.Wrap(std::move(done))(absl::OkStatus());
  });
}

void SimTrainer::Evaluate(uint64_t samples_max,
                          Done<absl::StatusOr<worker::EvaluationReport>> done) {
  abort_ = nullptr;
  Enter(worker::TrainerPhase::kEvaluating);
  Later(EvaluationTime(samples_max), [this, samples_max,
                                      done = std::move(done)]() mutable {
    Enter(worker::TrainerPhase::kIdle);
    if (shape_.validation_samples == 0) {
      answers_.Wrap(std::move(done))(absl::StatusOr<worker::EvaluationReport>(
          absl::FailedPreconditionError("the data have no validation "
                                        "split")));
      return;
    }
    const double loss = model_->Evaluate(samples_max, live_);
    answers_.Wrap(std::move(done))(absl::StatusOr<worker::EvaluationReport>(
        worker::EvaluationReport{loss, samples_max}));
  });
}

void SimTrainer::Generate(const worker::GenerateRequest& request,
                          Done<absl::StatusOr<std::string>> done) {
  abort_ = nullptr;
  Enter(worker::TrainerPhase::kGenerating);
  Later(10 * Moment(),
        [this, text = request.prompt + "!", done = std::move(done)]() mutable {
          Enter(worker::TrainerPhase::kIdle);
          answers_.Wrap(std::move(done))(absl::StatusOr<std::string>(text));
        });
}

}  // namespace skerry::sim
