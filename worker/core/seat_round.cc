// The boundary, PROTOCOL 4.2: one step a function. A step returns whether the
// next may be tried at once.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "worker/core/compute.h"
#include "worker/core/seat_impl.h"

namespace skerry::worker {

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
    case Step::kRunEnded:
      return StepRunEnded(now);
    case Step::kReady:
      return StepReady();
    case Step::kClose:
      return StepClose(now);
    case Step::kResting:
      RunTask(now);
      return false;
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
  recovery_.SetTarget(orders_->newest);
  // Nobody else may have the newest state: it has to be one that can be saved.
  if (draining_ && recovery_.ready() && drained_at_ < recovery_.applied()) {
    drained_at_ = recovery_.applied();
    recovery_.StoreBase();
  }
  if (!over() || recovery_.begin() == recovery_.end()) return false;
  step_ = Step::kClose;
  return true;
}

bool Seat::Impl::StepJoin(Instant now) {
  if (!recovery_.ready()) {
    recovery_.SetTarget(orders_->newest);
    return false;
  }
  if (history_.Bases(recovery_.begin(), recovery_.end()).empty()) {
    recovery_.StoreBase();
  }
  // From here on the head says how far to apply.
  recovery_.SetTarget(recovery_.applied());
  if (!trainer_free()) return false;
  TrainerGroup group{life_, rank_, group_size(), {}};
  for (const SpanHolder& holder : orders_->holders) {
    group.owners.push_back(layout_.Of(holder.begin, holder.end));
  }
  step_ = Step::kJoining;
  effects_.trainer.JoinGroup(
      group, OnTrainer<absl::Status>([this](Instant at, absl::Status status) {
        if (!status.ok()) return OnTrainerError(at, status);
        step_ = Step::kCut;
      }));
  return false;
}

bool Seat::Impl::StepCut(Instant now) {
  if (over()) {
    EndLife("the job is over");
    return true;
  }
  if (draining_ && !book_.pending() && !book_.busy()) {
    Abandon(now, "the worker drains");
    return true;
  }
  // While it waits, a worker whose trainer holds the anchor is of use.
  if (at_anchor_ && RunTask(now)) return false;
  const Sequence stored = recovery_.stored_through();
  if (stored < outcome_sequence_) return false;
  if ((!asked_ || *asked_ < stored) && ask_not_before_ <= now) AskCut(now);
  if (rank_ == 0) DecideCut(now);
  return step_ != Step::kCut;
}

void Seat::Impl::AskCut(Instant now) {
  asked_ = recovery_.stored_through();
  const CutRequest request{life_, rank_, round_, *asked_};
  auto on_cut =
      life_scope_.Wrap([this, asked = *asked_, round = round_](
                           Instant at, absl::StatusOr<CutReply> reply) {
        if (step_ != Step::kCut || round != round_ || asked_ != asked) return;
        OnCut(at, std::move(reply));
        Advance(at);
      });
  if (rank_ == 0) {
    agreement_.Ask(request, [now, on_cut = std::move(on_cut)](
                                absl::StatusOr<CutReply> reply) mutable {
      on_cut(now, std::move(reply));
    });
  } else {
    effects_.peers.AgreeCut(orders_->holders.front().peer.island_address,
                            request, std::move(on_cut));
  }
}

void Seat::Impl::DecideCut(Instant now) {
  const std::optional<Sequence> agreed = agreement_.Agreed();
  if (!agreed) return;
  // Nobody can go back, and a joiner has folded what it knew.
  if (*agreed < recovery_.applied()) return;
  if (round_ == Round(1) && *agreed < orders_->newest) return;
  CutReply reply{orders_->epoch, *agreed, {}};
  if (StartsRounds()) {
    data::RangeSet unused = orders_->granted.Subtract(used_);
    reply.ranges = unused.TakeFirst(orders_->settings.tau * replica_batch());
  }
  // A life that begins when nothing is left to train has to load the anchor
  // nevertheless, for the final evaluation.
  const bool wants_anchor =
      round_ == Round(1) && !at_anchor_ && !orders_->evaluations.empty();
  if (reply.ranges.empty() && reply.cut == recovery_.applied() &&
      !wants_anchor) {
    return;
  }
  used_ = used_.Union(reply.ranges);
  agreement_.Decide(reply);
}

void Seat::Impl::OnCut(Instant now, absl::StatusOr<CutReply> reply) {
  if (!reply.ok()) {
    asked_.reset();
    ask_not_before_ = now + options_.retry_interval;
    return;
  }
  if (reply->cut < recovery_.applied() ||
      reply->cut > recovery_.stored_through()) {
    return Abandon(now, absl::StrCat("the cut ", reply->cut.value(),
                                     " cannot be applied here"));
  }
  asked_.reset();
  cut_ = *std::move(reply);
  step_ = Step::kFold;
}

bool Seat::Impl::StepFold(Instant now) {
  recovery_.SetTarget(cut_.cut);
  if (!recovery_.ready() || recovery_.applied() != cut_.cut) return false;
  if (!trainer_free()) return false;
  // Before a life's first samples there is nothing but the anchor.
  const bool fresh = round_ == Round(1) && cut_.ranges.empty();
  StartMerge(now, Final() || fresh, Step::kStart);
  return false;
}

void Seat::Impl::StartMerge(Instant now, bool at_anchor, Step after) {
  step_ = Step::kMerging;
  const auto& outer = orders_->settings.outer;
  const TrainerMemory memory = effects_.trainer.memory();
  const ElementRange range = layout_.Of(recovery_.begin(), recovery_.end());
  auto left = std::make_shared<uint32_t>(recovery_.end() - recovery_.begin());
  pristine_ = false;
  at_anchor_ = false;
  for (uint32_t span = recovery_.begin(); span < recovery_.end(); ++span) {
    ++trainer_uses_;
    Compute(
        effects_.host,
        live_.Merge(outer, ended_delay_, span, *recovery_.StateOf(span),
                    layout_.spans[span], memory, at_anchor),
        trainer_scope_.Wrap([this, after, range, span, left, life = life_,
                             exact = at_anchor || !LiveBook::KeepsLive(outer)](
                                Instant at, Values start) {
          --trainer_uses_;
          if (life != life_ || step_ != Step::kMerging) return Advance(at);
          live_.Started(span, std::move(start));
          if (--*left > 0) return;
          step_ = Step::kLoading;
          effects_.trainer.Load(
              range,
              OnTrainer<absl::Status>(
                  [this, after, exact](Instant then, absl::Status status) {
                    if (!status.ok()) {
                      return OnTrainerError(then, status);
                    }
                    at_anchor_ = exact;
                    step_ = after;
                  }));
        }));
  }
}

bool Seat::Impl::StepStart(Instant now) {
  if (!trainer_free()) return false;
  if (at_anchor_ && RunTask(now)) return false;
  if (cut_.ranges.empty() || over()) {
    round_ = Next(round_);
    step_ = Step::kCut;
    return true;
  }
  round_scalars_ = {};
  round_loss_ = 0;
  round_ranges_ = data::RangeSet();
  StartRun(cut_.ranges);
  return false;
}

void Seat::Impl::StartRun(const data::RangeSet& ranges) {
  at_anchor_ = false;
  step_ = Step::kRunning;
  round_ranges_ = round_ranges_.Union(ranges);
  effects_.trainer.StartRun(
      ranges, replica_batch(),
      OnTrainer<absl::StatusOr<RunReport>>(
          [this, samples = ranges.total()](Instant now,
                                           absl::StatusOr<RunReport> report) {
            OnRun(now, samples, std::move(report));
          }));
}

void Seat::Impl::OnRun(Instant now, uint64_t samples,
                       absl::StatusOr<RunReport> report) {
  if (!report.ok()) return OnTrainerError(now, report.status());
  round_loss_ += report->loss * static_cast<double>(samples);
  round_scalars_.inner_steps += report->inner_steps;
  round_scalars_.compute_s += report->compute_s;
  counters_.compute_s += report->compute_s;
  counters_.samples += samples;
  step_ = Step::kRunEnded;
}

bool Seat::Impl::StepRunEnded(Instant now) {
  if (over()) {
    EndLife("the job is over");
    return true;
  }
  if (book_.busy() || !trainer_free()) return false;
  if (book_.pending()) {
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
      layout_.Of(recovery_.begin(), recovery_.end()),
      OnTrainer<absl::Status>([this](Instant at, absl::Status status) {
        if (!status.ok()) return OnTrainerError(at, status);
        AddRound(at);
      }));
  return false;
}

void Seat::Impl::AddRound(Instant now) {
  step_ = Step::kAdding;
  const TrainerMemory memory = effects_.trainer.memory();
  const bool keeps = LiveBook::KeepsLive(orders_->settings.outer);
  std::vector<OwedBook::RoundEnd> ends;
  for (uint32_t span = recovery_.begin(); span < recovery_.end(); ++span) {
    const ElementRange range = layout_.spans[span];
    ends.push_back(
        {live_.StartOf(span, *recovery_.StateOf(span)), memory, range});
    if (!keeps) continue;
    const auto live = memory.values.subspan(range.begin, range.size());
    live_.Keep(span, std::make_shared<const std::vector<float>>(live.begin(),
                                                                live.end()));
  }
  Contribution contribution{round_, recovery_.applied(),
                            static_cast<double>(round_ranges_.total()),
                            round_ranges_, round_scalars_};
  contribution.scalars.loss = round_loss_ / contribution.weight;
  ended_delay_ = Delay();
  ++trainer_uses_;
  book_.Add(std::move(contribution), ends,
            trainer_scope_.Wrap([this](Instant at, absl::Status status) {
              --trainer_uses_;
              if (absl::IsInvalidArgument(status)) {
                OnTrainerError(at, absl::InternalError(status.message()));
              } else if (status.ok()) {
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
  if (ended_delay_ == 0 && book_.pending()) return false;
  step_ = Step::kCut;
  return true;
}

bool Seat::Impl::StepClose(Instant now) {
  recovery_.SetTarget(orders_->newest);
  if (!over()) {
    step_ = Step::kAway;
    return true;
  }
  if (!recovery_.ready() || recovery_.applied() < orders_->newest ||
      !trainer_free()) {
    return false;
  }
  recovery_.StoreBase();
  StartMerge(now, /*at_anchor=*/true, Step::kResting);
  return false;
}

int Seat::Impl::Delay() const {
  // Where the history does not say how far the job is, waiting is safe.
  const auto& settings = orders_->settings;
  const std::optional<uint64_t> samples = recovery_.samples_committed();
  return samples
             ? optimizer::DelayAt(settings.outer, *samples, settings.samples)
             : 0;
}

bool Seat::Impl::Final() const {
  return recovery_.samples_committed().value_or(0) >= orders_->settings.samples;
}

}  // namespace skerry::worker
