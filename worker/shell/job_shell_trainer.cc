// When a job's trainer is started, dropped, and started again.
#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "checkpoint/same_model.h"
#include "runtime/log.h"
#include "worker/shell/job_shell.h"

namespace skerry::worker {
namespace {

// Operators hear so long of a trainer that had to be ended.
constexpr absl::Duration kTroubleKnownFor = absl::Minutes(10);
// After a trainer of a job that is over has failed, another one may be started.
constexpr absl::Duration kPromptAgainAfter = absl::Seconds(1);

}  // namespace

std::string JobShell::TrainerTrouble() const {
  if (has_trainer_) {
    std::string now = watcher_.Trouble();
    if (!now.empty()) return now;
  }
  if (hangs_ == 0) return "";
  const absl::Duration ago = machine_.loop.Now() - hung_at_;
  if (ago > kTroubleKnownFor) return "";
  return absl::StrFormat(
      "%s; it was ended %.0f s ago, and %d trainer(s) of the job were so here",
      hang_, absl::ToDoubleSeconds(ago), hangs_);
}

void JobShell::ConsiderTrainer() {
  if (!can_train_) return;
  const Instant now = machine_.loop.Now();
  if (seat_->WantsTrainer()) {
    if (over_) used_at_ = now;
    if (over_) prompted_at_ = now;
    if (!has_trainer_ && !backing_off_ && ports_.data->Take()) StartTrainer();
    if (ports_.data->is_fetching()) fatal_.clear();
    return;
  }
  if (!has_trainer_) return ports_.data->Release();
  const Instant until = prompted_at_.has_value()
                            ? *prompted_at_ + machine_.times.ended_idle
                            : now;
  if (now < until) return After(until - now, [this] { ConsiderTrainer(); });
  runtime::Log(runtime::Severity::kInfo, "worker.trainer.end",
               {{"job", job_.value()}});
  DropTrainer();
  ports_.data->Release();
  seat_->OnTrainerEnded(now);
  AfterSeat();
}

void JobShell::DropTrainer() {
  watcher_.End();
  ready_ = false;
  has_trainer_ = false;
  ports_.trainer->Drop();
}

void JobShell::StartTrainer() {
  has_trainer_ = true;
  runtime::Log(runtime::Severity::kInfo, "worker.trainer.start",
               {{"job", job_.value()}, {"tries", ++trainers_started_}});
  ports_.trainer->Start(
      {.number = trainers_started_,
       .data_folder = ports_.data->folder(),
       .data_verified = data_verified_ || ports_.data->is_verified()});
  watcher_.Begin();
}

absl::Status JobShell::TakeProgram(const ReadyTrainer& trainer) {
  if (trainer.program == nullptr) return absl::OkStatus();
  if (starting_tensors_.has_value()) {
    SKERRY_RETURN_IF_ERROR(
        Annotate(checkpoint::CheckSameTensors(trainer.program->table,
                                              *starting_tensors_),
                 "model.checkpoint"));
  }
  program_ = trainer.program;
  return absl::OkStatus();
}

void JobShell::OnTrainerReady(const ReadyTrainer& trainer) {
  if (const absl::Status fits = TakeProgram(trainer); !fits.ok()) {
    return ports_.trainer->Fail(fits);
  }
  runtime::Log(runtime::Severity::kInfo, "worker.trainer.ready",
               {{"job", job_.value()},
                {"pid", trainer.pid},
                {"elements", trainer.description.element_count},
                {"implementation", trainer.implementation}});
  ready_ = true;
  fatal_.clear();
  data_verified_ = true;
  elements_ = trainer.description.element_count;
  trainer_error_.clear();
  seat_->OnTrainerReady(machine_.loop.Now(), trainer.description);
  AfterSeat();
}

void JobShell::OnTrainerRestart(const absl::Status& why) {
  if (TrainerSaid(why)) trainer_error_ = std::string(why.message());
  ports_.trainer->Fail(why);
}

void JobShell::OnTrainerFailed(const absl::Status& why) {
  runtime::Log(runtime::Severity::kWarning, "worker.trainer.failed",
               {{"job", job_.value()}, {"cause", why}});
  const bool was_ready = ready_;
  const Instant now = machine_.loop.Now();
  if (absl::IsDeadlineExceeded(why)) {
    ++hangs_;
    hang_ = std::string(why.message());
    hung_at_ = now;
  }
  DropTrainer();
  ports_.data->Release();
  const TrainerFailures::Verdict verdict =
      failures_.OnFailure(why, seat_->Facts().counters.rounds, was_ready);
  if (!over_) trainer_error_ = verdict.reason;
  // A job that has ended is served although it cannot be trained.
  if (verdict.unfit && !over_) fatal_ = verdict.reason;
  backing_off_ = true;
  seat_->OnTrainerFailed(now, verdict.reason);
  AfterSeat();
  absl::Duration wait =
      verdict.restart_after.value_or(absl::InfiniteDuration());
  // The next prompt tries once more, however many trainers have failed.
  if (over_) wait = std::min(wait, kPromptAgainAfter);
  if (wait == absl::InfiniteDuration()) return;
  After(wait, [this] {
    backing_off_ = false;
    ConsiderTrainer();
  });
}

void JobShell::OnData(const absl::Status& outcome) {
  status_changed_();
  if (outcome.ok() || !over_) return ConsiderTrainer();
  // Whoever asks a job that is over for text is told why there is none.
  seat_->OnTrainerFailed(machine_.loop.Now(), std::string(outcome.message()));
  AfterSeat();
}

}  // namespace skerry::worker
