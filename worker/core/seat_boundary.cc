// The boundary between two rounds, PROTOCOL 4.2.2 and 4.2.4: what the replica's
// workers agree to apply, and how the trainer comes to it.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/core/compute.h"
#include "worker/core/seat_impl.h"

namespace skerry::worker {

bool Seat::Impl::StepCut(Instant now) {
  if (over()) {
    EndLife("the job is over");
    return true;
  }
  if (draining_ && AllDelivered() && AllFollow()) {
    Abandon(now, "the worker drains");
    return true;
  }
  // The job may end with this state, and no commit of one fragment tells.
  if (orders_->nothing_left && AllDelivered() && AllReady() && AllNewest()) {
    KeepState();
  }
  // While it waits, a worker whose trainer holds the anchor is of use.
  if (at_anchor_ && RunTask()) return false;
  std::vector<Sequence> stored;
  for (const auto& fragment : fragments_) {
    stored.push_back(fragment->recovery().stored_through());
    // With several the head waits, which may have another one deliver.
    if (fragments_.size() == 1 &&
        stored.back() < fragment->outcome_sequence()) {
      return false;
    }
  }
  bool more = !asked_.has_value();
  for (size_t f = 0; asked_ && f < stored.size(); ++f) {
    more |= (*asked_)[f] < stored[f];
  }
  if (more && ask_not_before_ <= now) AskCut(now);
  if (rank_ == 0) DecideCut(now);
  return step_ != Step::kCut;
}

void Seat::Impl::AskCut(Instant now) {
  std::vector<Sequence> stored;
  for (const auto& fragment : fragments_) {
    stored.push_back(fragment->recovery().stored_through());
  }
  asked_ = stored;
  const CutRequest request{life_, rank_, round_, stored, /*stops=*/true};
  auto on_cut =
      life_scope_.Wrap([this, asked = std::move(stored), round = round_](
                           Instant at, absl::StatusOr<CutReply> reply) {
        const bool waits = step_ == Step::kCut || step_ == Step::kPoint;
        if (!waits || round != round_ || asked_ != asked) return;
        OnCut(at, std::move(reply));
        Advance(at);
      });
  if (rank_ == 0) {
    agreement_.Ask(request, [now, on_cut = std::move(on_cut)](
                                absl::StatusOr<CutReply> reply) mutable {
      on_cut(now, std::move(reply));
    });
  } else {
    effects_.peers.AgreeCut(orders_->holders.front().peer.worker, request,
                            std::move(on_cut));
  }
}

bool Seat::Impl::AwaitsOutcome() const {
  return std::any_of(fragments_.begin(), fragments_.end(),
                     [](const auto& fragment) {
                       return fragment->at_boundary() &&
                              fragment->ended_delay() == 0 && fragment->Waits();
                     });
}

std::optional<uint32_t> Seat::Impl::Delivers(bool awaits) const {
  if (fragments_.size() == 1) return std::nullopt;
  const bool all =
      (draining_ || orders_->nothing_left) &&
      (!StartsRounds() || orders_->granted.Subtract(used_).empty());
  for (const auto& fragment : fragments_) {
    if (!fragment->IsAhead() || fragment->Waits()) continue;
    if (all || (awaits && fragment->orders().wanted)) return fragment->index();
  }
  return std::nullopt;
}

uint32_t Seat::Impl::NextTurn() const {
  uint32_t turn = 0;
  uint64_t least = ~uint64_t{0};
  for (const auto& fragment : fragments_) {
    const uint64_t reached = fragment->orders().newest.value() +
                             (fragment->book().pending() ? 1 : 0);
    if (reached >= least) continue;
    least = reached;
    turn = fragment->index();
  }
  return turn;
}

// What the trainer has not moved away from may be applied.
std::optional<CutReply> Seat::Impl::NextCut(
    const std::vector<Sequence>& agreed) const {
  CutReply reply{orders_->epoch, {}, {}};
  for (const auto& fragment : fragments_) {
    if (fragment->IsAhead()) continue;
    const Sequence newest = agreed[fragment->index()];
    const Sequence applied = fragment->recovery().applied();
    // Nobody can go back, and a joiner has folded what it knew.
    if (newest < applied || newest < fragment->outcome_sequence() ||
        (round_ == Round(1) && newest < fragment->orders().newest)) {
      return std::nullopt;
    }
    if (fragments_.size() == 1 || fragment->at_boundary() || newest > applied) {
      reply.cuts.push_back(
          {fragment->index(), newest, fragment->IsBack(newest)});
    }
  }
  return reply;
}

void Seat::Impl::DecideCut(Instant now) {
  const std::optional<std::vector<Sequence>> agreed = agreement_.Agreed();
  if (!agreed) return;
  const bool awaits = AwaitsOutcome();
  std::optional<CutReply> reply;
  if (!awaits) reply = NextCut(*agreed);
  if (reply && StartsRounds()) {
    data::RangeSet unused = orders_->granted.Subtract(used_);
    reply->ranges =
        unused.TakeFirst(settings_.tau / fragments_.size() * replica_batch());
  }
  if (!reply || reply->ranges.empty()) {
    if (const std::optional<uint32_t> turn = Delivers(awaits)) {
      return agreement_.Decide({orders_->epoch,
                                {},
                                {},
                                *turn,
                                /*at_anchor=*/false,
                                /*deliver=*/true,
                                /*runs=*/1});
    }
    if (!reply) return;
    const bool moves = std::any_of(
        reply->cuts.begin(), reply->cuts.end(), [&](const FragmentCut& cut) {
          return cut.sequence > fragments_[cut.fragment]->recovery().applied();
        });
    const bool asked = !orders_->evaluations.empty() ||
                       (fragments_.size() > 1 && !orders_->generate.empty());
    // A life that begins when nothing is left to train has to load the anchor
    // nevertheless, for the final evaluation.
    const bool wants_anchor =
        !at_anchor_ && asked &&
        (fragments_.size() == 1 ? round_ == Round(1) : AllDelivered());
    if (!moves && !wants_anchor) return;
    if (fragments_.size() > 1 && wants_anchor) {
      reply->at_anchor = true;
      reply->cuts.clear();
      for (const auto& fragment : fragments_) {
        const Sequence newest = (*agreed)[fragment->index()];
        reply->cuts.push_back(
            {fragment->index(), newest, fragment->IsBack(newest)});
      }
    }
  }
  reply->turn = NextTurn();
  reply->runs = RunsOf(*reply);
  used_ = used_.Union(reply->ranges);
  agreement_.Decide(*reply);
}

void Seat::Impl::OnCut(Instant now, absl::StatusOr<CutReply> reply) {
  if (!reply.ok()) {
    asked_.reset();
    ask_not_before_ = now + options_.retry_interval;
    return;
  }
  for (const FragmentCut& cut : reply->cuts) {
    const bool known = cut.fragment < fragments_.size();
    if (known &&
        (step_ == Step::kPoint || !fragments_[cut.fragment]->IsAhead()) &&
        cut.sequence >= fragments_[cut.fragment]->recovery().applied() &&
        cut.sequence <= fragments_[cut.fragment]->recovery().stored_through()) {
      continue;
    }
    return Abandon(now, absl::StrCat("the cut ", cut.sequence.value(),
                                     " cannot be applied here"));
  }
  if (reply->turn >= fragments_.size()) {
    return Abandon(now, "the head names a fragment that is not there");
  }
  asked_.reset();
  cut_ = *std::move(reply);
  for (const FragmentCut& cut : cut_.cuts) {
    SeatFragment& fragment = *fragments_[cut.fragment];
    // A head of an earlier release does not say it.
    fragment.SetBack(cut_.runs > 0 ? cut.back
                                   : !fragment.at_boundary() ||
                                         fragment.ended_delay() == 0);
  }
  if (step_ == Step::kPoint) return TakePoint();
  turn_ = cut_.turn;
  step_ = cut_.deliver ? Step::kRunEnded : Step::kFold;
}

bool Seat::Impl::StepFold(Instant now) {
  std::vector<uint32_t> changed;
  for (const FragmentCut& cut : cut_.cuts) {
    Recovery& recovery = fragments_[cut.fragment]->recovery();
    recovery.SetTarget(cut.sequence);
    if (!recovery.ready() || recovery.applied() != cut.sequence) return false;
    fragments_[cut.fragment]->LearnShare();
    changed.push_back(cut.fragment);
  }
  if (!trainer_free()) return false;
  if (changed.empty()) {
    step_ = Step::kStart;
    return true;
  }
  // Before a life's first samples there is nothing but the anchor.
  const bool fresh =
      fragments_.size() == 1 && round_ == Round(1) && cut_.ranges.empty();
  StartMerge(std::move(changed),
             Final() || fresh || cut_.at_anchor ? LiveChange::At::kAnchor
                                                : LiveChange::At::kBoundary,
             Step::kStart);
  return false;
}

void Seat::Impl::StartMerge(std::vector<uint32_t> fragments, LiveChange::At why,
                            Step after) {
  step_ = Step::kMerging;
  stop_times_.OnMergeBegins(now_);
  const auto& outer = settings_.outer;
  const TrainerMemory memory = effects_.trainer.memory();
  const bool exact =
      why == LiveChange::At::kAnchor || !LiveBook::KeepsLive(outer);
  auto left = std::make_shared<size_t>((end() - begin()) * fragments.size());
  pristine_ = false;
  at_anchor_ = false;
  for (const uint32_t index : fragments) {
    SeatFragment& fragment = *fragments_[index];
    LiveChange change{why, fragment.back(), fragment.own_share()};
    for (uint32_t span = begin(); span < end(); ++span) {
      ++trainer_uses_;
      change.rule = fragment.layout().rule(span);
      const SpanState anchor = *fragment.recovery().StateOf(span);
      Compute(effects_.host,
              fragment.live().Merge(outer, change, span, anchor,
                                    fragment.layout().spans[span], memory),
              trainer_scope_.Wrap([this, &fragment, fragments, after, exact,
                                   span, anchor, left,
                                   life = life_](Instant at, Values start) {
                --trainer_uses_;
                if (life != life_ || step_ != Step::kMerging)
                  return Advance(at);
                fragment.live().Started(span, anchor, std::move(start));
                if (--*left > 0) return;
                step_ = Step::kLoading;
                StartLoad(fragments, exact, after);
              }));
    }
  }
}

void Seat::Impl::StartLoad(std::vector<uint32_t> fragments, bool exact,
                           Step after) {
  const uint32_t index = fragments.front();
  effects_.trainer.Load(
      fragments_[index]->HeldElements(),
      OnTrainer<absl::Status>([this, fragments = std::move(fragments), exact,
                               after](Instant then, absl::Status status) {
        if (!status.ok()) return OnTrainerError(then, status);
        fragments_[fragments.front()]->OnLoaded();
        if (fragments.size() > 1) {
          return StartLoad({fragments.begin() + 1, fragments.end()}, exact,
                           after);
        }
        // The trainer holds the anchor of the whole model only if all fragments
        // were loaded.
        at_anchor_ = exact && (fragments_.size() == 1 || cut_.at_anchor ||
                               after == Step::kResting);
        stop_times_.OnMergeEnds(then);
        step_ = after;
      }));
}

}  // namespace skerry::worker
