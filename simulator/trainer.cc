#include "simulator/trainer.h"

#include <algorithm>
#include <utility>

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
                       TrainerIslands& islands, Events events)
    : shape_(shape),
      model_(std::move(model)),
      process_(process),
      random_(random),
      answers_(answers),
      islands_(islands),
      events_(std::move(events)) {}

void SimTrainer::Later(absl::Duration wait, runtime::Task task) {
  process_.RunAt(process_.Now() + wait, [alive = std::weak_ptr<char>(alive_),
                                         task = std::move(task)]() mutable {
    if (!alive.expired()) std::move(task)();
  });
}

absl::Duration SimTrainer::Moment() {
  return absl::Microseconds(100 + random_.Below(2000));
}

absl::Duration SimTrainer::CopyTime(const worker::ElementRange& range) {
  if (!shape_.pace.host.has_value()) return Moment();
  return absl::Nanoseconds(1) *
         (shape_.pace.host->copy_ns * static_cast<double>(range.size()));
}

absl::Duration SimTrainer::EvaluationTime(uint64_t samples) {
  if (!shape_.pace.evaluation.has_value()) return 10 * Moment();
  return shape_.compute * (*shape_.pace.evaluation * samples);
}

void SimTrainer::Start() {
  running_ = true;
  dying_ = false;
  alive_ = std::make_shared<char>();
  abort_ = nullptr;
  group_ = {};
  shared_ = std::make_shared<std::vector<float>>(model_->elements());
  live_.resize(model_->elements());
  model_->Initialize(live_);
  Later(shape_.pace.trainer_start.has_value()
            ? *shape_.pace.trainer_start
            : absl::Milliseconds(20 + random_.Below(200)),
        [this] {
          was_ready_ = true;
          events_.ready({model_->elements(), 1'000'000'000, 1000.0});
        });
}

void SimTrainer::End() {
  running_ = false;
  dying_ = false;
  alive_ = std::make_shared<char>();
  abort_ = nullptr;
}

void SimTrainer::Die(const std::string& reason) {
  if (!std::exchange(running_, false)) return;
  alive_ = std::make_shared<char>();
  abort_ = nullptr;
  dying_ = true;
  Later(Moment(), [this, reason] {
    dying_ = false;
    events_.failed(reason);
  });
}

void SimTrainer::Meet(TrainerIslands::Step step,
                      const worker::ElementRange& range,
                      Done<absl::Status> done) {
  auto answer = std::make_shared<Done<absl::Status>>(std::move(done));
  auto is_over = std::make_shared<bool>(false);
  const auto end = [this, answer, is_over](const absl::Status& status) {
    if (std::exchange(*is_over, true)) return;
    Later(Moment(), [this, answer, status] {
      answers_.Wrap(std::move(*answer))(status);
    });
  };
  abort_ = [end] { end(absl::AbortedError("cancelled")); };
  Later(shape_.meeting_max, [end] {
    end(absl::DeadlineExceededError("a member of the group did not come"));
  });
  islands_.Meet(
      shape_.job, step, group_,
      {alive_, range, shared_.get(), &live_, [end] { end(absl::OkStatus()); }});
}

void SimTrainer::JoinGroup(const worker::TrainerGroup& group,
                           Done<absl::Status> done) {
  group_ = group;
  Meet(TrainerIslands::Step::kJoin, {}, std::move(done));
}

void SimTrainer::Load(const worker::ElementRange& range,
                      Done<absl::Status> done) {
  Meet(TrainerIslands::Step::kLoad, range, std::move(done));
}

void SimTrainer::StartRun(const data::RangeSet& ranges, uint64_t batch,
                          Done<absl::StatusOr<worker::RunReport>> done) {
  using Report = absl::StatusOr<worker::RunReport>;
  auto answer = std::make_shared<Done<Report>>(std::move(done));
  auto is_over = std::make_shared<bool>(false);
  abort_ = [this, answer, is_over] {
    if (std::exchange(*is_over, true)) return;
    Later(Moment(), [this, answer] {
      answers_.Wrap(std::move(*answer))(
          Report(absl::AbortedError("cancelled")));
    });
  };
  const absl::Duration took =
      shape_.compute * static_cast<double>(ranges.total()) *
      (1 - shape_.pace.jitter + 2 * shape_.pace.jitter * random_.Uniform()) /
      group_.size;
  Later(took, [this, ranges, batch, answer, is_over, took] {
    if (std::exchange(*is_over, true)) return;
    worker::RunReport report;
    report.loss = model_->Train(ranges, batch, live_);
    report.samples = ranges.total();
    report.inner_steps = (ranges.total() + batch - 1) / batch;
    report.compute_s = absl::ToDoubleSeconds(took);
    answers_.Wrap(std::move(*answer))(Report(report));
  });
}

void SimTrainer::Cancel() {
  if (abort_) std::exchange(abort_, nullptr)();
}

void SimTrainer::Snapshot(const worker::ElementRange& range,
                          Done<absl::Status> done) {
  abort_ = nullptr;
  Later(CopyTime(range), [this, range, done = std::move(done)]() mutable {
    std::copy(live_.begin() + range.begin, live_.begin() + range.end,
              shared_->begin() + range.begin);
    answers_.Wrap(std::move(done))(absl::OkStatus());
  });
}

void SimTrainer::Evaluate(uint64_t samples_max,
                          Done<absl::StatusOr<worker::EvaluationReport>> done) {
  abort_ = nullptr;
  Later(EvaluationTime(samples_max), [this, samples_max,
                                      done = std::move(done)]() mutable {
    const double loss = model_->Evaluate(samples_max, live_);
    answers_.Wrap(std::move(done))(absl::StatusOr<worker::EvaluationReport>(
        worker::EvaluationReport{loss, samples_max}));
  });
}

void SimTrainer::Generate(const worker::GenerateRequest& request,
                          Done<absl::StatusOr<std::string>> done) {
  abort_ = nullptr;
  Later(10 * Moment(),
        [this, text = request.prompt + "!", done = std::move(done)]() mutable {
          answers_.Wrap(std::move(done))(absl::StatusOr<std::string>(text));
        });
}

}  // namespace skerry::sim
