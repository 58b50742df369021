// Has the trainer save its inner state at boundaries, and has a trainer that
// this worker has started anew load it.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/core/seat_impl.h"

namespace skerry::worker {
namespace {

// Whether the trainer is as it was before the call that answered so.
bool IsUnharmed(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnimplemented:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool Seat::Impl::BeginInner() {
  if (!inner_.decides()) return false;
  std::string why = inner_.Distrust();
  if (!inner_.can_save()) why = "its trainer saves no inner state";
  if (!why.empty()) {
    BeginCold(why);
    return false;
  }
  // A trainer that fails from here on may have failed because of it.
  inner_.OnLoaded(true);
  ++trainer_uses_;
  effects_.trainer.LoadInner(
      trainer_->layout_hash,
      trainer_scope_.Wrap(
          [this](Instant at, absl::StatusOr<InnerProgress> report) {
            --trainer_uses_;
            TakeInner(at, report);
            Advance(at);
          }));
  return true;
}

void Seat::Impl::BeginCold(const std::string& why) {
  inner_.OnLoaded(false);
  // At a job's beginning there are no moments to miss.
  if (!StateApplied().is_set() && !options_.goes_on) return;
  effects_.host.Event(absl::StrCat("begins with cold moments, because ", why));
}

void Seat::Impl::TakeInner(Instant now,
                           const absl::StatusOr<InnerProgress>& report) {
  if (report.ok()) {
    effects_.host.Event(absl::StrCat(
        "goes on with the inner state of sequence ", report->sequence,
        ", which has ", report->steps, " steps behind it"));
  } else if (IsUnharmed(report.status())) {
    BeginCold(std::string(report.status().message()));
  } else {
    OnTrainerError(now, report.status());
  }
}

bool Seat::Impl::SaveInner(Instant now, bool is_last) {
  const uint64_t sequence = StateApplied().value();
  const uint64_t every =
      fragments_.size() == 1 ? settings_.checkpoint_every : 0;
  if (!inner_.IsDue(now, sequence, every, is_last) ||
      !effects_.trainer.CanSaveInner()) {
    inner_.OnPassed(sequence);
    return false;
  }
  const bool for_checkpoint = inner_.IsForCheckpoint(sequence, every, is_last);
  auto on_saved = [this, since = now, sequence, for_checkpoint,
                   leaves = !life_.is_set()](Instant at, absl::Status status) {
    if (leaves) inner_.OnLeft();
    if (status.ok()) {
      return inner_.OnSaved(since, at, sequence, for_checkpoint);
    }
    inner_.OnPassed(sequence);
    if (!IsUnharmed(status)) return OnTrainerError(at, status);
    inner_.OnSaveFailed(at);
    effects_.host.Event(
        absl::StrCat("the inner state is not saved: ", status.message()));
  };
  effects_.trainer.SaveInner({trainer_->layout_hash, sequence},
                             OnTrainer<absl::Status>(std::move(on_saved)));
  return true;
}

bool Seat::Impl::AwaitsInner(Sequence sequence) const {
  if (!trainer_ready_ || over() || fragments_.size() != 1 ||
      settings_.checkpoint_every == 0 || !inner_.MayCome(sequence.value())) {
    return false;
  }
  switch (step_) {
    case Step::kFold:
    case Step::kMerging:
    case Step::kLoading:
    case Step::kStart:
      return true;
    case Step::kAway:
      return draining_ && inner_.leaves_something() && AllReady() &&
             AllNewest();
    default:
      return false;
  }
}

}  // namespace skerry::worker
