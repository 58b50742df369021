#include "worker/shell/trainer_watcher.h"

#include <utility>

namespace skerry::worker {

TrainerWatcher::TrainerWatcher(const TrainerWatchOptions& options,
                               runtime::EventLoop& loop, ProcessPort& trainer,
                               absl::AnyInvocable<void()> on_trouble)
    : options_(options),
      loop_(loop),
      trainer_(trainer),
      on_trouble_(std::move(on_trouble)) {
  watch_.emplace(options_, loop.Now());
}

void TrainerWatcher::Begin() {
  const absl::Duration longest_step = watch_->longest_step();
  watch_.emplace(options_, loop_.Now(), longest_step);
  asked_ = false;
  troubled_ = false;
  current_ = std::make_shared<char>();
  Look();
}

void TrainerWatcher::End() { current_.reset(); }

void TrainerWatcher::OnAnswer() { watch_->OnAnswer(loop_.Now()); }

std::string TrainerWatcher::Trouble() const {
  return current_ == nullptr ? "" : watch_->Trouble(loop_.Now());
}

void TrainerWatcher::Look() {
  const std::string why = watch_->Look(loop_.Now());
  if (!why.empty()) {
    End();
    return trainer_.Fail(absl::DeadlineExceededError(why));
  }
  if (troubled_ == Trouble().empty()) {
    troubled_ = !troubled_;
    on_trouble_();
  }
  if (!asked_) {
    asked_ = true;
    trainer_.Ask([this, current = std::weak_ptr<char>(current_)](
                     const absl::StatusOr<TrainerProgress>& progress) {
      if (!current.expired()) OnProgress(progress);
    });
  }
  loop_.RunAt(loop_.Now() + options_.interval,
              [this, current = std::weak_ptr<char>(current_)] {
                if (!current.expired()) Look();
              });
}

void TrainerWatcher::OnProgress(
    const absl::StatusOr<TrainerProgress>& progress) {
  asked_ = false;
  if (progress.ok()) {
    watch_->OnProgress(loop_.Now(), *progress);
  } else if (absl::IsUnimplemented(progress.status())) {
    watch_->OnUnknown(loop_.Now());
  }
}

}  // namespace skerry::worker
