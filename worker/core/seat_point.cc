// The apply points inside a round, PROTOCOL 4.6: a result that has come is
// applied between two inner steps.
#include <algorithm>
#include <utility>

#include "worker/core/seat_impl.h"

namespace skerry::worker {

uint32_t Seat::Impl::RunsOf(const CutReply& reply) const {
  const optimizer::OuterOptions& outer = settings_.outer;
  if (outer.merge != optimizer::MergeRule::kOwnShare || !agreement_.AllStop()) {
    return 1;
  }
  // Where nothing is on its way, nothing is waited for.
  std::vector<bool> back;
  for (const auto& fragment : fragments_) back.push_back(fragment->back());
  for (const FragmentCut& cut : reply.cuts) back[cut.fragment] = cut.back;
  if (std::find(back.begin(), back.end(), false) == back.end()) return 1;
  const uint64_t steps =
      (reply.ranges.total() + replica_batch() - 1) / replica_batch();
  const uint64_t runs = outer.apply_points.has_value()
                            ? *outer.apply_points
                            : stop_times_.AffordablePoints(steps);
  return static_cast<uint32_t>(std::clamp<uint64_t>(
      std::min(runs, steps), 1, optimizer::kApplyPointsMax));
}

bool Seat::Impl::StepPoint(Instant now) {
  if (over()) {
    EndLife("the job is over");
    return true;
  }
  if (!asked_ && ask_not_before_ <= now) AskCut(now);
  if (rank_ == 0 && step_ == Step::kPoint) DecidePoint();
  return step_ != Step::kPoint;
}

// Nobody waits here for a result: what some rank lacks has the next point.
void Seat::Impl::DecidePoint() {
  const std::optional<std::vector<Sequence>> agreed = agreement_.Agreed();
  if (!agreed) return;
  CutReply reply{orders_->epoch, {}, {}};
  bool all_back = true;
  for (const auto& fragment : fragments_) {
    const Sequence applied = fragment->recovery().applied();
    const Sequence newest = std::max((*agreed)[fragment->index()], applied);
    const bool back = fragment->IsBack(newest);
    all_back &= back;
    // A contribution that was dropped leaves live values without a result.
    if (newest > applied || back != fragment->back()) {
      reply.cuts.push_back({fragment->index(), newest, back});
    }
  }
  reply.turn = turn_;
  reply.runs = all_back ? 1 : runs_.left();
  agreement_.Decide(reply);
}

void Seat::Impl::TakePoint() {
  runs_.Recut(cut_.runs);
  moved_ = 0;
  if (!cut_.cuts.empty()) stop_times_.OnApply();
  step_ = cut_.cuts.empty() ? Step::kGoOn : Step::kPointFold;
}

bool Seat::Impl::StepPointFold() {
  for (const FragmentCut& cut : cut_.cuts) {
    Recovery& recovery = fragments_[cut.fragment]->recovery();
    recovery.SetTarget(cut.sequence);
    if (!recovery.ready() || recovery.applied() != cut.sequence) return false;
    fragments_[cut.fragment]->LearnShare();
  }
  if (!trainer_free()) return false;
  if (moved_ == cut_.cuts.size()) {
    step_ = Step::kGoOn;
    return true;
  }
  const uint32_t index = cut_.cuts[moved_++].fragment;
  step_ = Step::kSnapshotting;
  effects_.trainer.Snapshot(
      fragments_[index]->HeldElements(),
      OnTrainer<absl::Status>([this, index](Instant at, absl::Status status) {
        if (!status.ok()) return OnTrainerError(at, status);
        now_ = at;
        StartMerge({index}, LiveChange::At::kApplyPoint, Step::kPointFold);
      }));
  return false;
}

bool Seat::Impl::StepGoOn() {
  if (!trainer_free()) return false;
  StartRun(runs_.Take(replica_batch()));
  return false;
}

}  // namespace skerry::worker
