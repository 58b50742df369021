// A life and its rounds, PROTOCOL 4.2: one step a function. A step returns
// whether the next may be tried at once.
#include <algorithm>
#include <memory>
#include <utility>

#include "worker/core/seat_impl.h"

namespace skerry::worker {
namespace {

// So many rounds of samples that come next is the trainer told at most.
constexpr uint64_t kUpcomingRounds = 4;

}  // namespace

bool Seat::Impl::StepOnce(Instant now) {
  switch (step_) {
    case Step::kAway:
      return StepAway(now);
    case Step::kJoin:
      return StepJoin(now);
    case Step::kCut:
      return StepCut(now);
    case Step::kFold:
      return StepFold(now);
    case Step::kStart:
      return StepStart(now);
    case Step::kPoint:
      return StepPoint(now);
    case Step::kPointFold:
      return StepPointFold();
    case Step::kGoOn:
      return StepGoOn();
    case Step::kRunEnded:
      return StepRunEnded(now);
    case Step::kReady:
      return StepReady();
    case Step::kClose:
      return StepClose();
    case Step::kResting:
      return StepResting();
    case Step::kRunning:
      if (!over()) return false;
      EndLife("the job is over");
      return true;
    case Step::kJoining:
    case Step::kMerging:
    case Step::kLoading:
    case Step::kSnapshotting:
    case Step::kAdding:
      return false;
  }
  return false;
}

bool Seat::Impl::StepAway(Instant now) {
  for (const auto& fragment : fragments_) {
    fragment->recovery().SetTarget(fragment->orders().newest);
  }
  // Nobody else may have the newest state.
  if (draining_ && AllReady()) {
    KeepState();
    if (inner_.leaves_something() && AllNewest() && trainer_free() && !over()) {
      if (SaveInner(now, /*is_last=*/true)) return false;
      inner_.OnLeft();
    }
  }
  if (!over() || begin() == end()) return false;
  step_ = Step::kClose;
  return true;
}

void Seat::Impl::KeepState() {
  if (kept_at_ == StateApplied()) return;
  kept_at_ = StateApplied();
  for (const auto& fragment : fragments_) fragment->recovery().StoreBase();
}

bool Seat::Impl::StepJoin(Instant now) {
  if (!AllReady()) {
    for (const auto& fragment : fragments_) {
      fragment->recovery().SetTarget(fragment->orders().newest);
    }
    return false;
  }
  for (const auto& fragment : fragments_) {
    Recovery& recovery = fragment->recovery();
    if (fragment->history().Bases(begin(), end()).empty()) recovery.StoreBase();
    // From here on the head says how far to apply.
    recovery.SetTarget(recovery.applied());
  }
  // Before the group, which takes the state of the member with most steps.
  if (!trainer_free() || BeginInner()) return false;
  TrainerGroup group{life_, rank_, group_size(), {}};
  for (const auto& fragment : fragments_) {
    std::vector<ElementRange>& owners = group.owners.emplace_back();
    for (const SpanHolder& holder : orders_->holders) {
      owners.push_back(
          fragment->layout().Of(holder.span_begin, holder.span_end));
    }
  }
  step_ = Step::kJoining;
  in_group_ = group_size() > 1;
  effects_.trainer.JoinGroup(
      group, OnTrainer<absl::Status>([this](Instant at, absl::Status status) {
        if (!status.ok()) return OnTrainerError(at, status);
        step_ = Step::kCut;
      }));
  return false;
}

bool Seat::Impl::StepStart(Instant now) {
  if (!trainer_free()) return false;
  // Before an evaluation, because a checkpoint waits for it.
  if (!over() && SaveInner(now, Final())) return false;
  if (at_anchor_ && RunTask()) return false;
  if (cut_.ranges.empty() || over()) {
    round_ = Next(round_);
    step_ = Step::kCut;
    return true;
  }
  measured_ = {};
  runs_.Begin(cut_.ranges, cut_.runs);
  StartRun(runs_.Take(replica_batch()));
  return false;
}

void Seat::Impl::StartRun(const data::RangeSet& ranges) {
  at_anchor_ = false;
  inner_.OnTrains();
  step_ = Step::kRunning;
  stop_times_.OnRunBegins(now_);
  for (const auto& fragment : fragments_) fragment->AddSamples(ranges);
  data::RangeSet upcoming;
  // Only the head knows what the replica has used.
  if (rank_ == 0) {
    data::RangeSet unused = orders_->granted.Subtract(used_);
    upcoming =
        unused.TakeFirst(kUpcomingRounds * settings_.tau * replica_batch());
  }
  upcoming = upcoming.Union(runs_.rest());
  effects_.trainer.StartRun(
      ranges, upcoming, replica_batch(),
      OnTrainer<absl::StatusOr<RunReport>>(
          [this, samples = ranges.total()](Instant now,
                                           absl::StatusOr<RunReport> report) {
            OnRun(now, samples, std::move(report));
          }));
}

void Seat::Impl::OnRun(Instant now, uint64_t samples,
                       absl::StatusOr<RunReport> report) {
  if (!report.ok()) return OnTrainerError(now, report.status());
  inner_.OnRound();
  for (const auto& fragment : fragments_) {
    fragment->AddReport(*report, samples);
  }
  measured_.Add(report->metrics, samples);
  metrics_ = measured_.Means();
  counters_.compute_s += report->compute_s;
  counters_.samples += samples;
  stop_times_.OnRunEnds(now, *report);
  if (runs_.rest().empty()) {
    step_ = Step::kRunEnded;
    return;
  }
  // An agreement at an apply point has a number of its own.
  round_ = Next(round_);
  stop_times_.OnStop(now);
  step_ = Step::kPoint;
}

bool Seat::Impl::StepRunEnded(Instant now) {
  if (over()) {
    EndLife("the job is over");
    return true;
  }
  SeatFragment& fragment = *fragments_[turn_];
  if (fragment.book().busy() || !trainer_free()) return false;
  if (fragment.book().pending()) {
    // Waiting may take further inner steps on samples already leased; several
    // workers would have to agree on them, so they wait.
    if (group_size() > 1 || !StartsRounds()) return false;
    data::RangeSet unused = orders_->granted.Subtract(used_);
    if (unused.total() < replica_batch()) return false;
    const data::RangeSet more = unused.TakeFirst(replica_batch());
    used_ = used_.Union(more);
    StartRun(more);
    return false;
  }
  step_ = Step::kSnapshotting;
  effects_.trainer.Snapshot(
      fragment.HeldElements(),
      OnTrainer<absl::Status>(
          [this, since = now](Instant at, absl::Status status) {
            if (!status.ok()) return OnTrainerError(at, status);
            stop_times_.OnSnapshot(at - since);
            AddRound(at);
          }));
  return false;
}

void Seat::Impl::AddRound(Instant now) {
  step_ = Step::kAdding;
  SeatFragment& fragment = *fragments_[turn_];
  const TrainerMemory memory = effects_.trainer.memory();
  std::vector<OwedBook::RoundEnd> ends;
  auto kept = std::make_shared<std::vector<Values>>(end() - begin());
  for (uint32_t span = begin(); span < end(); ++span) {
    const ElementRange range = fragment.layout().spans[span];
    const SpanRule rule = fragment.layout().rule(span);
    Values start;
    if (rule == SpanRule::kStep) {
      start = fragment.live().StartOf(span, *fragment.recovery().StateOf(span));
    }
    const bool keeps = LiveBook::KeepsLive(settings_.outer, rule);
    ends.push_back({std::move(start), memory, range,
                    keeps ? &(*kept)[span - begin()] : nullptr});
  }
  ++trainer_uses_;
  fragment.book().Add(
      fragment.Produced(round_), ends,
      trainer_scope_.Wrap(
          [this, &fragment, kept](Instant at, absl::Status status) {
            --trainer_uses_;
            if (absl::IsInvalidArgument(status)) {
              OnTrainerError(at, absl::InternalError(status.message()));
            } else if (status.ok()) {
              for (uint32_t i = 0; i < kept->size(); ++i) {
                if ((*kept)[i]) fragment.live().Keep(begin() + i, (*kept)[i]);
              }
              fragment.OnBoundary();
              ++counters_.rounds;
              round_ = Next(round_);
              step_ = Step::kReady;
              Changed();
            }
            Advance(at);
          }));
}

bool Seat::Impl::StepReady() {
  if (over()) {
    EndLife("the job is over");
    return true;
  }
  // With several the head may have another one deliver meanwhile.
  const SeatFragment& fragment = *fragments_[turn_];
  if (fragments_.size() == 1 && fragment.ended_delay() == 0 &&
      fragment.book().pending()) {
    return false;
  }
  step_ = Step::kCut;
  return true;
}

bool Seat::Impl::StepClose() {
  for (const auto& fragment : fragments_) {
    fragment->recovery().SetTarget(fragment->orders().newest);
  }
  if (!over()) {
    step_ = Step::kAway;
    return true;
  }
  if (!AllReady() || !AllNewest()) return false;
  for (const auto& fragment : fragments_) fragment->recovery().StoreBase();
  step_ = Step::kResting;
  return true;
}

// A trainer is there only while somebody waits for what it makes.
bool Seat::Impl::StepResting() {
  if (!over()) {
    step_ = Step::kAway;
    return true;
  }
  if (DueGeneration() == nullptr) return false;
  if (begin() != 0 || end() != fragments_[0]->layout().size()) {
    RefuseGeneration("this worker holds a part of the model only");
    return false;
  }
  if (!trainer_free() || !AllReady() || in_group_) return false;
  if (at_anchor_) {
    RunGeneration();
    return false;
  }
  std::vector<uint32_t> all;
  for (const auto& fragment : fragments_) all.push_back(fragment->index());
  StartMerge(std::move(all), LiveChange::At::kAnchor, Step::kResting);
  return false;
}

bool Seat::Impl::Final() const {
  return fragments_.size() == 1 &&
         fragments_[0]->recovery().samples_committed().value_or(0) >=
             settings_.samples;
}

}  // namespace skerry::worker
