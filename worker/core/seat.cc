#include "worker/core/seat.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "planner/spans.h"
#include "worker/core/seat_impl.h"

namespace skerry::worker {

namespace {

// One for each fragment; those that orders do not name have nothing new.
std::vector<FragmentOrders> ByNumber(const std::vector<FragmentOrders>& named,
                                     uint32_t count) {
  std::vector<FragmentOrders> all(count);
  for (uint32_t f = 0; f < count; ++f) all[f].fragment = FragmentId(f);
  for (const FragmentOrders& one : named) {
    if (one.fragment.value() < count) all[one.fragment.value()] = one;
  }
  return all;
}

}  // namespace

Seat::Seat(SeatOptions options, const Effects& effects)
    : impl_(std::make_unique<Impl>(std::move(options), effects)) {}
Seat::~Seat() = default;

void Seat::OnOrders(Instant now, Revision revision, const JobOrders& orders,
                    const JobSettings& settings) {
  impl_->OnOrders(now, revision, orders, settings);
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
void Seat::OnTrainerEnded(Instant now) { impl_->OnTrainerEnded(now); }
bool Seat::WantsTrainer() const { return impl_->WantsTrainer(); }
bool Seat::IsAtRest() const { return impl_->IsAtRest(); }
bool Seat::AwaitsInner(Sequence sequence) const {
  return impl_->AwaitsInner(sequence);
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
absl::StatusOr<SharedBytes> Seat::PieceOf(const PieceKey& key) const {
  return impl_->PieceOf(key);
}
void Seat::OnAgreeCut(Instant now, const CutRequest& request,
                      CutAnswer answer) {
  impl_->OnAgreeCut(now, request, std::move(answer));
}
void Seat::OnFolderGone(Instant now) { impl_->OnFolderGone(now); }
Attempt Seat::HighestAttempt() const { return impl_->HighestAttempt(); }
std::optional<Instant> Seat::NextDeadline() const {
  return impl_->NextDeadline();
}
void Seat::OnTime(Instant now) { impl_->OnTime(now); }
JobFacts Seat::Facts() const { return impl_->Facts(); }
Audit Seat::GetAudit(uint32_t fragment) const {
  return impl_->GetAudit(fragment);
}
Values Seat::AnchorOf(uint32_t span, uint32_t fragment) const {
  return impl_->AnchorOf(span, fragment);
}
Values Seat::OwedOf(uint32_t span, uint32_t fragment) const {
  return impl_->OwedOf(span, fragment);
}

Seat::Impl::Impl(SeatOptions options, const Effects& effects)
    : options_(std::move(options)),
      disk_(effects.disk, options_.disk_retry_interval,
            [this](Instant now) { OnDisk(now); }),
      effects_{effects.trainer, effects.bulk, disk_, effects.peers,
               effects.host} {
  SKERRY_CHECK(options_.fragments > 0);
  said_.fragments.resize(options_.fragments);
  for (uint32_t f = 0; f < options_.fragments; ++f) {
    fragments_.push_back(std::make_unique<SeatFragment>(
        SeatFragmentOptions{f, options_.job, options_.worker,
                            options_.retry_interval, options_.fetches_max,
                            options_.part_bytes},
        options_.on_disk, effects_, [this](Instant now) { Advance(now); },
        [this](Instant now, const std::string& why) { Fail(now, why); }));
  }
}

// A peer that waits for the cut is answered while all members still live.
Seat::Impl::~Impl() { agreement_.Begin(Life(), 0); }

void Seat::Impl::OnOrders(Instant now, Revision revision,
                          const JobOrders& orders,
                          const JobSettings& settings) {
  if (revision < revision_) return;
  revision_ = revision;
  orders_ = orders;
  orders_->fragments = ByNumber(orders.fragments, settings.fragments);
  settings_ = settings;
  ForgetAnswers();
  TakeOrders(now);
  Advance(now);
}

void Seat::Impl::OnImported(Instant now, const StoredFile& base) {
  SKERRY_CHECK(base.fragment < fragments_.size());
  fragments_[base.fragment]->recovery().OnStored(base);
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
  if (configured_) return true;
  if (!orders_) return false;
  // What is left of a job that is over can be served without a trainer.
  const uint64_t elements = trainer_ ? trainer_->element_count
                            : over() ? orders_->element_count
                                     : 0;
  if (elements == 0) return false;
  const uint64_t average_begin =
      trainer_ ? trainer_->average_begin : orders_->average_begin;
  const auto cut = planner::CutFragments(elements, options_.fragments,
                                         settings_.spans, average_begin);
  if (!cut.ok()) {
    failure_ = std::string(cut.status().message());
    return false;
  }
  for (const auto& fragment : fragments_) {
    Layout layout;
    if (average_begin > 0) layout.average_begin = average_begin;
    for (const planner::SpanRange& span : (*cut)[fragment->index()]) {
      layout.spans.push_back({span.begin, span.end});
    }
    fragment->Configure(settings_, std::move(layout));
  }
  configured_ = true;
  elements_ = elements;
  average_begin_ = average_begin;
  return true;
}

absl::Status Seat::Impl::CheckOrders() const {
  if (orders_->fragments.size() != fragments_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("orders are for ", orders_->fragments.size(),
                     " fragments, the job has ", fragments_.size()));
  }
  const uint32_t spans = fragments_[0]->layout().size();
  for (const SpanHolder& holder : orders_->holders) {
    if (holder.span_end > spans || holder.span_begin >= holder.span_end) {
      return absl::InvalidArgumentError(absl::StrCat(
          "orders give spans to ", holder.span_end, ", the model has ", spans));
    }
  }
  for (const auto& fragment : fragments_) {
    SKERRY_RETURN_IF_ERROR(
        fragment->CheckOrders(orders_->fragments[fragment->index()]));
  }
  return absl::OkStatus();
}

void Seat::Impl::TakeOrders(Instant now) {
  if (!Works() || !orders_ || !Configure()) return;
  const absl::Status fit = CheckOrders();
  if (!fit.ok()) return Fail(now, std::string(fit.message()));
  bool given_up = false;
  for (const auto& fragment : fragments_) {
    given_up |= fragment->recovery().BeginWith(orders_->initial_hash);
    fragment->TakeOrders(orders_->fragments[fragment->index()],
                         orders_->holders);
  }
  if (given_up) {
    effects_.host.Event(
        "the job begins with other values than those of the state here, which "
        "is given up");
    Changed();
  }
  TakeLife(now);
}

void Seat::Impl::TakeHoldings() {
  for (uint32_t rank = 0; rank < orders_->holders.size(); ++rank) {
    const SpanHolder& holder = orders_->holders[rank];
    if (holder.peer.worker != options_.worker) continue;
    rank_ = rank;
    for (const auto& fragment : fragments_) {
      fragment->recovery().SetHoldings(holder.span_begin, holder.span_end);
    }
  }
}

void Seat::Impl::TakeLife(Instant now) {
  if (orders_->life != life_ && life_.is_set()) {
    EndLife(absl::StrCat("life ", life_.value(), " is over"));
  }
  if (life_.is_set()) return;
  TakeHoldings();
  if (!orders_->life.is_set() || over() || begin() == end()) return;
  // It is over here. A coordinator with an older journal does not know that.
  if (orders_->life <= left_) return GiveBackLife();
  if (!HoldsState()) {
    // What it was admitted for is gone, and only a worker without a life is
    // offered bases.
    left_ = orders_->life;
    effects_.host.Event(absl::StrCat("declines life ", left_.value(),
                                     ": a span has no state any more"));
    return GiveBackLife();
  }
  life_ = orders_->life;
  for (const auto& fragment : fragments_) fragment->BeginLife(life_);
  agreement_.Begin(life_, group_size());
  round_ = Round(1);
  turn_ = 0;
  step_ = Step::kJoin;
  effects_.host.Event(absl::StrCat("life ", life_.value(), " begins at ",
                                   StateApplied().value()));
  Changed();
}

void Seat::Impl::GiveBackLife() {
  if (std::exchange(abandoned_, orders_->life) != orders_->life) Changed();
}

bool Seat::Impl::HoldsState() const {
  for (const auto& fragment : fragments_) {
    for (uint32_t span = begin(); span < end(); ++span) {
      if (fragment->recovery().StateOf(span) == nullptr) return false;
    }
  }
  return true;
}

void Seat::Impl::EndLife(const std::string& reason) {
  if (!life_.is_set()) return;
  effects_.host.Event(absl::StrCat("life ", life_.value(), " ends: ", reason));
  left_ = life_;
  life_ = Life();
  for (const auto& fragment : fragments_) fragment->EndLife();
  used_ = data::RangeSet();
  runs_ = {};
  asked_.reset();
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
  if (header.job != options_.job.value() ||
      header.fragment >= fragments_.size()) {
    return FrameVerdict::kRefused;
  }
  const FrameVerdict verdict =
      fragments_[header.fragment]->OnFrame(header, payload);
  if (verdict != FrameVerdict::kNotYet) ReportPhase();
  return verdict;
}

absl::StatusOr<SharedBytes> Seat::Impl::OnFetch(const PieceKey& key) {
  if (key.fragment >= fragments_.size()) {
    return absl::NotFoundError(
        absl::StrCat("the job has ", fragments_.size(), " fragments"));
  }
  return fragments_[key.fragment]->recovery().Read(key);
}

absl::StatusOr<SharedBytes> Seat::Impl::PieceOf(const PieceKey& key) const {
  return key.fragment < fragments_.size()
             ? fragments_[key.fragment]->recovery().Find(key)
             : absl::NotFoundError("no such fragment");
}

void Seat::Impl::OnAgreeCut(Instant now, const CutRequest& request,
                            CutAnswer answer) {
  if (request.stored_through.size() != fragments_.size()) {
    std::move(answer)(absl::InvalidArgumentError(
        absl::StrCat("the job has ", fragments_.size(), " fragments")));
    return;
  }
  agreement_.Ask(request, std::move(answer));
  Advance(now);
}

void Seat::Impl::OnFolderGone(Instant now) {
  effects_.host.Event("the job's folder was removed: its state is stored anew");
  for (const auto& fragment : fragments_) fragment->OnFolderGone();
  Changed();
  Advance(now);
}

Attempt Seat::Impl::HighestAttempt() const {
  Attempt highest;
  for (const auto& fragment : fragments_) {
    highest = std::max(highest, fragment->history().highest_attempt());
  }
  return highest;
}

std::optional<Instant> Seat::Impl::NextDeadline() const {
  // A seat that has failed or cannot store reports only the disk's deadline. It
  // does nothing at its other deadlines, so one that has passed would wake the
  // loop again and again.
  if (!Works()) return disk_.NextDeadline();
  std::optional<Instant> next;
  for (const auto& fragment : fragments_) {
    const std::optional<Instant> due = fragment->recovery().NextDeadline();
    if (due && (!next || *due < *next)) next = due;
  }
  const bool asks = step_ == Step::kCut || step_ == Step::kPoint;
  if (asks && !asked_ && ask_not_before_ > now_ &&
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
  if (!configured_) return;
  // Room on the disk may be what is missing.
  if (failure_.empty() && !Works()) DeleteFiles();
  if (!Works()) return;
  for (const auto& fragment : fragments_) {
    fragment->ConsiderOutcome(now);
    fragment->ConsiderExchange(now);
  }
  if (trainer_ && !trainer_->generates) {
    RefuseGeneration("the job's program does not generate text");
  }
  while (Works() && StepOnce(now)) {
  }
  for (const auto& fragment : fragments_) {
    Recovery& recovery = fragment->recovery();
    recovery.SetReplaceable(!life_.is_set());
    recovery.SetInitialAtHand(pristine_ && trainer_ready_ && HasInitial() &&
                              !settings_.from_checkpoint);
    recovery.Pump(now);
    if (life_.is_set() && recovery.gap()) {
      Abandon(now, absl::StrCat("nobody keeps result ", recovery.gap()->value(),
                                ", which comes next"));
    }
  }
  ConsiderInitial(now);
  DeleteFiles();
  CountStall(now);
}

void Seat::Impl::CountStall(Instant now) {
  if (stalled_since_) {
    counters_.stall_s += absl::ToDoubleSeconds(now - *stalled_since_);
  }
  const bool waiting = step_ == Step::kCut || step_ == Step::kPoint ||
                       step_ == Step::kRunEnded || step_ == Step::kReady;
  const bool stalled = waiting && orders_ && !orders_->paused;
  stalled_since_ = stalled ? std::optional<Instant>(now) : std::nullopt;
}

void Seat::Impl::DeleteFiles() {
  for (const auto& fragment : fragments_) {
    const Sequence keep_from = fragment->orders().keep_from;
    for (StoredFile& file : fragment->history().TakeDeletable(keep_from)) {
      file.fragment = fragment->index();
      effects_.disk.Delete(file);
    }
    fragment->history().ForgetThrough(
        std::min(keep_from, fragment->recovery().applied()));
  }
}

Values Seat::Impl::AnchorOf(uint32_t span, uint32_t fragment) const {
  const SpanState* state = fragments_[fragment]->recovery().StateOf(span);
  return state == nullptr ? nullptr : state->values;
}

}  // namespace skerry::worker
