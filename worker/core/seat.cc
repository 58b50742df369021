#include "worker/core/seat.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "planner/spans.h"
#include "worker/core/seat_impl.h"

namespace skerry::worker {

Seat::Seat(SeatOptions options, const Effects& effects)
    : impl_(std::make_unique<Impl>(std::move(options), effects)) {}
Seat::~Seat() = default;

void Seat::OnOrders(Instant now, Revision revision, const JobOrders& orders) {
  impl_->OnOrders(now, revision, orders);
}
void Seat::OnTrainerReady(Instant now, const TrainerDescription& trainer) {
  impl_->OnTrainerReady(now, trainer);
}
void Seat::OnImported(Instant now, const StoredFile& base) {
  impl_->OnImported(now, base);
}
void Seat::OnTrainerFailed(Instant now, const std::string& reason) {
  impl_->OnTrainerFailed(now, reason);
}
void Seat::OnLifeLost(Instant now, const std::string& reason) {
  impl_->OnLifeLost(now, reason);
}
void Seat::Drain(Instant now) { impl_->SetDraining(now, true); }
void Seat::Serve(Instant now) { impl_->SetDraining(now, false); }
FrameVerdict Seat::OnFrame(Instant now, const compression::FrameHeader& header,
                           const SharedBytes& payload) {
  return impl_->OnFrame(now, header, payload);
}
absl::StatusOr<SharedBytes> Seat::OnFetch(const PieceKey& key) {
  return impl_->OnFetch(key);
}
void Seat::OnAgreeCut(Instant now, const CutRequest& request,
                      CutAnswer answer) {
  impl_->OnAgreeCut(now, request, std::move(answer));
}
std::optional<Instant> Seat::NextDeadline() const {
  return impl_->NextDeadline();
}
void Seat::OnTime(Instant now) { impl_->OnTime(now); }
JobFacts Seat::Facts() const { return impl_->Facts(); }
Audit Seat::GetAudit() const { return impl_->GetAudit(); }
Values Seat::AnchorOf(uint32_t span) const { return impl_->AnchorOf(span); }
Values Seat::OwedOf(uint32_t span) const { return impl_->OwedOf(span); }

Seat::Impl::Impl(SeatOptions options, const Effects& effects)
    : options_(std::move(options)),
      disk_(effects.disk, options_.disk_retry_interval,
            [this](Instant now) { OnDisk(now); }),
      effects_{effects.trainer, effects.bulk, disk_, effects.peers,
               effects.host},
      history_(options_.on_disk),
      recovery_(
          {options_.worker, options_.retry_interval, options_.fetches_max},
          history_, effects_,
          seat_scope_.Wrap([this](Instant now) { Advance(now); })),
      book_(effects_.host) {}

// A peer that waits for the cut is answered while all members still live.
Seat::Impl::~Impl() { agreement_.Begin(Life(), 0); }

void Seat::Impl::OnOrders(Instant now, Revision revision,
                          const JobOrders& orders) {
  if (revision < revision_) return;
  revision_ = revision;
  orders_ = orders;
  TakeOrders(now);
  Advance(now);
}

void Seat::Impl::OnTrainerReady(Instant now,
                                const TrainerDescription& trainer) {
  if (trainer_ && trainer_->element_count != trainer.element_count) {
    Fail(now, absl::StrCat("the trainer's model has ", trainer.element_count,
                           " elements, its predecessor's had ",
                           trainer_->element_count));
    return;
  }
  trainer_ = trainer;
  trainer_ready_ = true;
  restarting_ = false;
  pristine_ = true;
  at_anchor_ = false;
  TakeOrders(now);
  Changed();
  Advance(now);
}

void Seat::Impl::OnImported(Instant now, const StoredFile& base) {
  recovery_.OnStored(base);
  Advance(now);
}

void Seat::Impl::OnTrainerFailed(Instant now, const std::string& reason) {
  trainer_scope_.End();
  trainer_uses_ = 0;
  trainer_ready_ = false;
  pristine_ = false;
  at_anchor_ = false;
  restarting_ = false;
  ++counters_.trainer_restarts;
  effects_.host.Event(absl::StrCat("trainer failed: ", reason));
  Abandon(now, reason);
  // Whatever waited for the trainer begins again.
  step_ = Step::kAway;
  Changed();
  Advance(now);
}

void Seat::Impl::OnLifeLost(Instant now, const std::string& reason) {
  EndLife(reason);
  Changed();
  Advance(now);
}

void Seat::Impl::SetDraining(Instant now, bool draining) {
  draining_ = draining;
  Advance(now);
}

bool Seat::Impl::Configure() {
  if (layout_.size() > 0) return true;
  if (!trainer_ || !orders_) return false;
  const auto spans =
      planner::CutSpans(trainer_->element_count, orders_->settings.spans);
  if (!spans.ok()) {
    failure_ = std::string(spans.status().message());
    return false;
  }
  for (const planner::SpanRange& span : *spans) {
    layout_.spans.push_back({span.begin, span.end});
  }
  recovery_.Configure(orders_->settings, layout_);
  return true;
}

absl::Status Seat::Impl::CheckOrders() const {
  for (const SpanHolder& holder : orders_->holders) {
    if (holder.end > layout_.size() || holder.begin >= holder.end) {
      return absl::InvalidArgumentError(
          absl::StrCat("orders give spans to ", holder.end, ", the model has ",
                       layout_.size()));
    }
  }
  for (const CommittedEntry& entry : orders_->committed) {
    if (entry.hashes.size() != layout_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "commit ", entry.sequence.value(), " has ", entry.hashes.size(),
          " hashes, the model has ", layout_.size(), " spans"));
    }
  }
  return absl::OkStatus();
}

void Seat::Impl::TakeOrders(Instant now) {
  if (!Works() || !orders_ || !Configure()) return;
  const absl::Status fit = CheckOrders();
  if (!fit.ok()) return Fail(now, std::string(fit.message()));
  history_.AddCommitted(orders_->committed);
  recovery_.SetView(orders_->sources, orders_->keep_from);
  recovery_.SetNeighbours(orders_->holders);
  TakeLife(now);
}

void Seat::Impl::TakeHoldings() {
  for (uint32_t rank = 0; rank < orders_->holders.size(); ++rank) {
    const SpanHolder& holder = orders_->holders[rank];
    if (holder.peer.worker != options_.worker) continue;
    rank_ = rank;
    recovery_.SetHoldings(holder.begin, holder.end);
  }
}

void Seat::Impl::TakeLife(Instant now) {
  if (orders_->life != life_ && life_.is_set()) {
    EndLife(absl::StrCat("life ", life_.value(), " is over"));
  }
  if (life_.is_set()) return;
  TakeHoldings();
  const bool alive = orders_->life.is_set() && orders_->life > left_;
  if (!alive || over() || recovery_.begin() == recovery_.end()) return;
  if (!HoldsState()) {
    // What it was admitted for is gone, and only a worker without a life is
    // offered bases.
    left_ = orders_->life;
    abandoned_ = orders_->life;
    effects_.host.Event(absl::StrCat("declines life ", left_.value(),
                                     ": a span has no state any more"));
    return Changed();
  }
  life_ = orders_->life;
  book_.Begin(layout_, recovery_.begin(), recovery_.end());
  agreement_.Begin(life_, group_size());
  round_ = Round(1);
  step_ = Step::kJoin;
  effects_.host.Event(absl::StrCat("life ", life_.value(), " begins at ",
                                   recovery_.applied().value()));
  Changed();
}

bool Seat::Impl::HoldsState() const {
  for (uint32_t span = recovery_.begin(); span < recovery_.end(); ++span) {
    if (recovery_.StateOf(span) == nullptr) return false;
  }
  return true;
}

void Seat::Impl::EndLife(const std::string& reason) {
  if (!life_.is_set()) return;
  effects_.host.Event(absl::StrCat("life ", life_.value(), " ends: ", reason));
  left_ = life_;
  life_ = Life();
  book_.Abandon();
  CloseExchange();
  live_.Reset();
  used_ = data::RangeSet();
  round_ranges_ = data::RangeSet();
  asked_.reset();
  outcome_sequence_ = Sequence();
  at_anchor_ = false;
  step_ = Step::kAway;
  life_scope_.End();
  agreement_.Begin(Life(), 0);
  if (trainer_uses_ > 0) effects_.trainer.Cancel();
}

void Seat::Impl::Abandon(Instant now, const std::string& reason) {
  if (!life_.is_set()) return;
  abandoned_ = life_;
  EndLife(reason);
  Changed();
}

void Seat::Impl::Fail(Instant now, const std::string& reason) {
  if (!failure_.empty()) return;
  failure_ = reason;
  effects_.host.Event(absl::StrCat("failed: ", reason));
  Abandon(now, reason);
  Changed();
}

// Without a disk nothing can be reported, so others shall have the samples and
// the place until it stores again.
void Seat::Impl::OnDisk(Instant now) {
  if (disk_.error().empty()) {
    effects_.host.Event("the disk stores again");
    TakeOrders(now);
  } else {
    const std::string error = DiskError();
    effects_.host.Event(error);
    Abandon(now, error);
  }
  Changed();
  Advance(now);
}

std::string Seat::Impl::DiskError() const {
  if (disk_.error().empty()) return "";
  return absl::StrCat("disk: ", disk_.error(), "; tried again every ",
                      absl::FormatDuration(options_.disk_retry_interval));
}

FrameVerdict Seat::Impl::OnFrame(Instant now,
                                 const compression::FrameHeader& header,
                                 const SharedBytes& payload) {
  const Attempt attempt(header.attempt);
  if (header.job != options_.job.value() || header.fragment != 0 ||
      attempt < newest_attempt_) {
    return FrameVerdict::kRefused;
  }
  if (exchange_ != nullptr && exchange_->attempt() == attempt) {
    const bool accepted = exchange_->Offer(header, payload);
    ReportPhase();
    return accepted ? FrameVerdict::kAccepted : FrameVerdict::kRefused;
  }
  // It ended here, so this can only be a repeat.
  if (attempt == finished_attempt_) return FrameVerdict::kAccepted;
  return FrameVerdict::kNotYet;
}

absl::StatusOr<SharedBytes> Seat::Impl::OnFetch(const PieceKey& key) {
  const StoredFile* file = history_.FindPiece(key);
  if (file == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(options_.worker, " does not hold span ", key.span, " of ",
                     key.kind == PieceKey::Kind::kBase ? "base " : "result ",
                     key.sequence.value()));
  }
  return effects_.disk.Map(*file, key.span);
}

void Seat::Impl::OnAgreeCut(Instant now, const CutRequest& request,
                            CutAnswer answer) {
  agreement_.Ask(request, std::move(answer));
  Advance(now);
}

std::optional<Instant> Seat::Impl::NextDeadline() const {
  // Of a seat that stands still the others are over, and would come at once.
  if (!Works()) return disk_.NextDeadline();
  std::optional<Instant> next = recovery_.NextDeadline();
  if (step_ == Step::kCut && !asked_ && ask_not_before_ > now_ &&
      (!next || ask_not_before_ < *next)) {
    next = ask_not_before_;
  }
  return next;
}

void Seat::Impl::OnTime(Instant now) {
  disk_.OnTime(now);
  Advance(now);
}

void Seat::Impl::Advance(Instant now) {
  now_ = now;
  again_ = true;
  if (advancing_) return;
  advancing_ = true;
  while (std::exchange(again_, false)) AdvanceOnce(now);
  advancing_ = false;
  ConsiderStatus();
  ReportPhase();
}

void Seat::Impl::AdvanceOnce(Instant now) {
  CountStall(now);
  if (layout_.size() == 0) return;
  // Room on the disk may be what is missing.
  if (failure_.empty() && !Works()) DeleteFiles();
  if (!Works()) return;
  ConsiderOutcome(now);
  ConsiderExchange(now);
  while (Works() && StepOnce(now)) {
  }
  recovery_.SetReplaceable(!life_.is_set());
  recovery_.SetInitialAtHand(pristine_ && trainer_ready_ &&
                             !orders_->settings.from_checkpoint);
  recovery_.Pump(now);
  if (life_.is_set() && recovery_.gap()) {
    Abandon(now, absl::StrCat("nobody keeps result ", recovery_.gap()->value(),
                              ", which comes next"));
  }
  ConsiderInitial(now);
  DeleteFiles();
  CountStall(now);
}

// Much comes about in callbacks, so it is compared with what was said last.
void Seat::Impl::ConsiderStatus() {
  const Said now{State(), life_, recovery_.ready(), recovery_.applied(),
                 recovery_.stored_through()};
  if (std::exchange(said_, now) != now) Changed();
}

SeatState Seat::Impl::State() const {
  if (!failure_.empty()) return SeatState::kFailed;
  if (!Works() || !trainer_ready_) return SeatState::kStarting;
  const bool without_place = recovery_.begin() == recovery_.end();
  if (step_ == Step::kResting || (over() && without_place)) {
    return SeatState::kResting;
  }
  return life_.is_set() ? SeatState::kActive : SeatState::kRecovering;
}

void Seat::Impl::CountStall(Instant now) {
  if (stalled_since_) {
    counters_.stall_s += absl::ToDoubleSeconds(now - *stalled_since_);
  }
  const bool waiting =
      step_ == Step::kCut || step_ == Step::kRunEnded || step_ == Step::kReady;
  const bool stalled = waiting && orders_ && !orders_->paused;
  stalled_since_ = stalled ? std::optional<Instant>(now) : std::nullopt;
}

void Seat::Impl::DeleteFiles() {
  const Sequence keep_from = orders_->keep_from;
  for (const StoredFile& file : history_.TakeDeletable(keep_from)) {
    effects_.disk.Delete(file);
  }
  history_.ForgetThrough(std::min(keep_from, recovery_.applied()));
}

JobFacts Seat::Impl::Facts() const {
  JobFacts facts;
  facts.job = options_.job;
  facts.life = life_;
  facts.abandoned_life = abandoned_;
  facts.error = failure_.empty() ? DiskError() : failure_;
  facts.state = State();
  if (trainer_) {
    facts.element_count = trainer_->element_count;
    facts.epoch_samples = trainer_->epoch_samples;
    facts.flops_per_sample = trainer_->flops_per_sample;
  }
  facts.span_begin = recovery_.begin();
  facts.applied = recovery_.applied();
  facts.stored_through = recovery_.stored_through();
  if (recovery_.ready()) {
    for (uint32_t s = recovery_.begin(); s < recovery_.end(); ++s) {
      facts.anchor_hashes.push_back(recovery_.StateOf(s)->hash);
    }
  }
  facts.stored = stored_;
  facts.ready = book_.pending();
  if (exchange_ != nullptr) facts.progress = exchange_->Progress();
  facts.bases = history_.Bases(recovery_.begin(), recovery_.end());
  // Spans move between the workers of an island, and what one of them has given
  // up may be nowhere else.
  const auto beside = history_.BasesBeside(recovery_.begin(), recovery_.end());
  facts.bases.insert(facts.bases.end(), beside.begin(), beside.end());
  facts.first_result_kept = history_.FirstResultKept(
      facts.stored_through, recovery_.begin(), recovery_.end());
  if (Works()) facts.pin = recovery_.pin();
  facts.owed_norm = book_.owed_norm();
  facts.lost_norm = book_.lost_norm();
  for (const Evaluated& one : evaluations_) {
    facts.evaluations.push_back(one.fact);
  }
  facts.generated = generated_;
  facts.counters = counters_;
  if (exchange_ != nullptr) {
    facts.counters.payload_bytes_sent += exchange_->bytes_sent();
    facts.counters.payload_bytes_received += exchange_->bytes_received();
    facts.counters.parts_repeated += exchange_->parts_repeated();
  }
  return facts;
}

Values Seat::Impl::AnchorOf(uint32_t span) const {
  const SpanState* state = recovery_.StateOf(span);
  return state == nullptr ? nullptr : state->values;
}

Values Seat::Impl::OwedOf(uint32_t span) const {
  const uint32_t index = span - recovery_.begin();
  return span < recovery_.begin() || index >= book_.owed().size()
             ? nullptr
             : book_.owed()[index].values;
}

}  // namespace skerry::worker
