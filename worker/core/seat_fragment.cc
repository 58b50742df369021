#include "worker/core/seat_fragment.h"

#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::worker {
namespace {

using protocol::Outcome;

// How many retry intervals a late member waits for its frames before it fetches
// a result that is committed.
constexpr int kLateIntervals = 4;

std::vector<SpanHolder> HoldersOf(const OpenExchange& open) {
  std::vector<SpanHolder> holders;
  for (const Member& member : open.members) {
    holders.insert(holders.end(), member.holders.begin(), member.holders.end());
  }
  return holders;
}

std::vector<StoredFile> FilesOf(const std::vector<StoredFile>& all,
                                uint32_t fragment) {
  std::vector<StoredFile> own;
  for (const StoredFile& file : all) {
    if (file.fragment == fragment) own.push_back(file);
  }
  return own;
}

}  // namespace

SeatFragment::SeatFragment(SeatFragmentOptions options,
                           const std::vector<StoredFile>& on_disk,
                           const Effects& effects, Advance advance, Fail fail)
    : options_(std::move(options)),
      disk_(options_.index, effects.disk),
      bulk_(options_.index, effects.bulk),
      effects_{effects.trainer, bulk_, disk_, effects.peers, effects.host},
      advance_(std::move(advance)),
      fail_(std::move(fail)),
      history_(FilesOf(on_disk, options_.index)),
      recovery_(
          {options_.worker, options_.retry_interval, options_.fetches_max},
          history_, effects_,
          scope_.Wrap([this](Instant now) { advance_(now); })),
      book_(effects_.host) {}

void SeatFragment::Configure(const JobSettings& settings, Layout layout) {
  settings_ = settings;
  layout_ = std::move(layout);
  recovery_.Configure(settings_, layout_,
                      options_.index < settings_.begins_at.size()
                          ? settings_.begins_at[options_.index]
                          : Sequence());
}

absl::Status SeatFragment::CheckOrders(const FragmentOrders& orders) const {
  for (const CommittedEntry& entry : orders.committed) {
    if (entry.hashes.size() != layout_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "commit ", entry.sequence.value(), " has ", entry.hashes.size(),
          " hashes, the model has ", layout_.size(), " spans"));
    }
  }
  return absl::OkStatus();
}

void SeatFragment::TakeOrders(const FragmentOrders& orders,
                              const std::vector<SpanHolder>& holders) {
  orders_ = orders;
  recovery_.Keep(orders.kept);
  recovery_.ForgetLost(orders.committed, orders.newest);
  history_.AddCommitted(orders.committed);
  recovery_.SetView(orders.sources, orders.keep_from, orders.newest);
  recovery_.SetNeighbours(holders);
  // The coordinator has lost what came after its newest commit, so that nobody
  // can fold this state again: it is kept as it is.
  if (orders.newest < recovery_.applied() && recovery_.ready()) {
    recovery_.StoreBase();
  }
}

void SeatFragment::BeginLife(Life life) {
  life_ = life;
  book_.Begin(layout_, recovery_.begin(), recovery_.end());
  LearnShare();
  at_boundary_ = true;
}

void SeatFragment::EndLife() {
  life_ = Life();
  book_.Abandon();
  CloseExchange();
  // A stored result is reported only within a life, and may be of spans that
  // this worker no longer holds in the next one.
  stored_.reset();
  live_.Reset();
  trained_ = data::RangeSet();
  scalars_ = {};
  loss_ = 0;
  measured_ = 0;
  at_boundary_ = false;
  back_ = true;
  steps_apart_.reset();
  late_steps_ = 0;
  measured_share_ = 1;
  outcome_sequence_ = Sequence();
}

void SeatFragment::AddSamples(const data::RangeSet& ranges) {
  trained_ = trained_.Union(ranges);
}

void SeatFragment::AddReport(const RunReport& report, uint64_t samples) {
  if (!report.no_loss) {
    loss_ += report.loss * static_cast<double>(samples);
    measured_ += samples;
  }
  scalars_.inner_steps += report.inner_steps;
  scalars_.compute_s += report.compute_s;
  if (steps_apart_) *steps_apart_ += report.inner_steps;
}

Contribution SeatFragment::Produced(Round round) const {
  Contribution contribution{round, recovery_.applied(),
                            static_cast<double>(trained_.total()), trained_,
                            scalars_};
  // A result that is not applied yet is applied at this boundary.
  contribution.scalars.late_steps =
      static_cast<double>(steps_apart_.value_or(late_steps_));
  contribution.scalars.no_loss = measured_ == 0;
  if (measured_ > 0) {
    contribution.scalars.loss = loss_ / static_cast<double>(measured_);
  }
  return contribution;
}

void SeatFragment::OnBoundary() {
  trained_ = data::RangeSet();
  scalars_ = {};
  loss_ = 0;
  measured_ = 0;
  at_boundary_ = true;
  if (steps_apart_) late_steps_ = *steps_apart_;
  steps_apart_ = 0;
  back_ = false;
  // Where the history does not say how far the job is, waiting is safe.
  const std::optional<uint64_t> samples = recovery_.samples_committed();
  ended_delay_ =
      samples ? optimizer::DelayAt(settings_.outer, *samples, settings_.samples)
              : 0;
}

void SeatFragment::SetBack(bool back) {
  back_ = back;
  if (!back || !steps_apart_) return;
  late_steps_ = *steps_apart_;
  steps_apart_.reset();
}

// Orders say of one and the same journal what was committed and what became of
// the contribution. So one whose outcome is not told is in no result that this
// worker knows of.
bool SeatFragment::IsBack(Sequence applied) const {
  const std::optional<Contribution>& pending = book_.pending();
  if (!pending) return outcome_sequence_ <= applied;
  if (!orders_.outcome || orders_.outcome->round != pending->round) {
    return false;
  }
  switch (orders_.outcome->kind) {
    case Outcome::Kind::kPending:
      return false;
    case Outcome::Kind::kDropped:
      return true;
    case Outcome::Kind::kCommitted:
      return orders_.outcome->sequence <= applied;
  }
  return false;
}

void SeatFragment::LearnShare() {
  const CommittedEntry* newest = history_.Find(recovery_.applied());
  if (newest != nullptr && newest->scalars.own_share > 0) {
    measured_share_ = static_cast<float>(newest->scalars.own_share);
  }
}

void SeatFragment::ConsiderOutcome(Instant now) {
  if (exchange_ != nullptr && finished_attempt_ == exchange_->attempt() &&
      !book_.pending()) {
    CloseExchange();
  }
  if (exchange_ != nullptr && !exchange_->complete() && !result_awaited_) {
    const CommittedEntry* entry = history_.Find(exchange_->sequence());
    if (entry != nullptr && entry->attempt == exchange_->attempt()) {
      result_awaited_ = true;
      recovery_.Hold(entry->attempt,
                     now + kLateIntervals * options_.retry_interval);
    }
  }
  if (!life_.is_set() || !orders_.outcome || !book_.pending() || book_.busy() ||
      orders_.outcome->round != book_.pending()->round) {
    return;
  }
  const Outcome outcome = *orders_.outcome;
  if (outcome.kind == Outcome::Kind::kPending) return;
  if (outcome.kind == Outcome::Kind::kDropped) {
    Event(absl::StrCat("round ", outcome.round.value(), " was dropped"));
    book_.Drop();
    Changed();
    return;
  }
  if (exchange_ == nullptr || exchange_->attempt() != outcome.attempt) {
    return fail_(
        now, absl::StrCat("round ", outcome.round.value(),
                          " was committed in attempt ", outcome.attempt.value(),
                          ", in which this worker sent nothing"));
  }
  book_.Settle(*exchange_, settings_.beta,
               scope_.Wrap([this, outcome](Instant at, absl::Status status) {
                 if (status.ok()) {
                   outcome_sequence_ = outcome.sequence;
                   if (exchange_ != nullptr && exchange_->complete() &&
                       finished_attempt_ == exchange_->attempt()) {
                     CloseExchange();
                   }
                   Changed();
                 } else if (!absl::IsAborted(status)) {
                   fail_(at, std::string(status.message()));
                 }
                 advance_(at);
               }));
}

void SeatFragment::ConsiderExchange(Instant now) {
  if (!orders_.open || orders_.open->attempt < newest_attempt_) return;
  const OpenExchange& open = *orders_.open;
  if (open.attempt > newest_attempt_) {
    newest_attempt_ = open.attempt;
    CloseExchange();
    effects_.bulk.ForgetBefore(options_.index, open.attempt);
  }
  if (exchange_ != nullptr || finished_attempt_ == open.attempt) return;
  if (!life_.is_set() || !book_.pending() || book_.busy()) return;
  for (uint32_t m = 0; m < open.members.size(); ++m) {
    const Member& member = open.members[m];
    if (member.life != life_ ||
        member.contribution.round != book_.pending()->round) {
      continue;
    }
    const absl::Status fit =
        ValidateOpen(open, layout_, recovery_.begin(), recovery_.end());
    if (!fit.ok()) return fail_(now, std::string(fit.message()));
    return OpenAttempt(open, m);
  }
}

void SeatFragment::OpenAttempt(const OpenExchange& open, uint32_t self) {
  effects_.host.Trace(absl::StrCat("attempt ", open.attempt.value(),
                                   " of sequence ", open.sequence.value(),
                                   " with ", open.members.size(), " members"));
  recovery_.SetPeers(open.attempt, HoldersOf(open));
  recovery_.Hold(open.attempt, Instant(absl::InfiniteDuration()));
  result_awaited_ = false;
  ExchangePlan plan{
      options_.job,       open, self, recovery_.begin(), recovery_.end(),
      options_.part_bytes};
  exchange_ = std::make_unique<Exchange>(
      std::move(plan), layout_, book_.owed(), effects_.bulk, effects_.host,
      [this](Instant now, absl::Status status) {
        OnExchangeEnd(now, std::move(status));
      });
  // The disk begins with what is there while the rest is on its way.
  StoredFile file{PieceKey::Kind::kResult, open.sequence, open.attempt, {}};
  for (uint32_t span = recovery_.begin(); span < recovery_.end(); ++span) {
    file.pieces.push_back({span, 0});
  }
  exchange_->TellPieces([this, file = std::move(file)](
                            const ExchangeResult::Piece& piece) {
    effects_.disk.StoreAhead(file, piece.span - recovery_.begin(), piece.bytes);
  });
  exchange_->Start();
}

void SeatFragment::OnExchangeEnd(Instant now, absl::Status status) {
  if (!status.ok()) {
    Event(absl::StrCat("attempt ", exchange_->attempt().value(), ": ",
                       status.message()));
    return;
  }
  StoreResult();
}

void SeatFragment::StoreResult() {
  protocol::StoredResult fact{exchange_->sequence(),
                              exchange_->attempt(),
                              {},
                              exchange_->result().squared_norm};
  StoredFile file{PieceKey::Kind::kResult, fact.sequence, fact.attempt, {}};
  std::vector<SharedBytes> contents;
  for (const ExchangeResult::Piece& piece : exchange_->result().pieces) {
    fact.hashes.push_back(piece.hash);
    file.pieces.push_back({piece.span, piece.hash});
    contents.push_back(piece.bytes);
  }
  effects_.disk.Store(
      file, std::move(contents),
      scope_.Wrap([this, file, fact](Instant at, absl::Status status) {
        if (status.ok()) recovery_.OnStored(file);
        if (exchange_ != nullptr && exchange_->attempt() == fact.attempt) {
          finished_attempt_ = fact.attempt;
          if (status.ok()) {
            stored_ = fact;
            effects_.host.Trace(absl::StrCat("attempt ", fact.attempt.value(),
                                             ": the result is stored"));
          }
        }
        Changed();
        advance_(at);
      }));
}

void SeatFragment::OnFolderGone() {
  recovery_.OnFolderGone();
  if (!stored_.has_value()) return;
  stored_.reset();
  const bool is_here =
      exchange_ != nullptr && exchange_->attempt() == finished_attempt_;
  if (is_here) StoreResult();
}

void SeatFragment::CloseExchange() {
  if (exchange_ == nullptr) return;
  closed_.bulk_sent_bytes += exchange_->bytes_sent();
  closed_.bulk_received_bytes += exchange_->bytes_received();
  exchange_.reset();
  // Should its result be committed, it has to be fetched.
  recovery_.Hold(Attempt(), Instant());
}

FrameVerdict SeatFragment::OnFrame(const compression::FrameHeader& header,
                                   const SharedBytes& payload) {
  const Attempt attempt(header.attempt);
  if (attempt < newest_attempt_) return FrameVerdict::kRefused;
  if (exchange_ != nullptr && exchange_->attempt() == attempt) {
    return exchange_->Offer(header, payload);
  }
  // It ended here, so this can only be a repeat.
  if (attempt == finished_attempt_) return FrameVerdict::kAccepted;
  return FrameVerdict::kNotYet;
}

std::string_view SeatFragment::Phase() const {
  if (exchange_ == nullptr) return "";
  if (finished_attempt_ == exchange_->attempt()) return "commit";
  if (exchange_->complete()) return "report";
  return exchange_->in_second_hop() ? "hop2" : "hop1";
}

void SeatFragment::Event(std::string_view line) {
  if (settings_.fragments == 1) return effects_.host.Event(line);
  effects_.host.Event(
      absl::StrCat("fragment ", options_.index, ": ",
                   absl::string_view(line.data(), line.size())));
}

FragmentFacts SeatFragment::Facts(bool with_pin) const {
  FragmentFacts facts;
  facts.fragment = FragmentId(options_.index);
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
  const auto& beside = history_.BasesBeside(recovery_.begin(), recovery_.end());
  facts.bases.insert(facts.bases.end(), beside.begin(), beside.end());
  facts.first_result_kept = history_.FirstResultKept(
      facts.stored_through, recovery_.begin(), recovery_.end());
  if (with_pin) facts.pin = recovery_.pin();
  facts.owed_norm = book_.owed_norm();
  facts.lost_norm = book_.lost_norm();
  facts.applied_attempt = recovery_.applied_attempt();
  std::tie(facts.last_result, facts.last_result_attempt) =
      history_.last_result();
  return facts;
}

void SeatFragment::AddCounters(SeatCounters& counters) const {
  counters.bulk_sent_bytes += closed_.bulk_sent_bytes;
  counters.bulk_received_bytes += closed_.bulk_received_bytes;
  if (exchange_ == nullptr) return;
  counters.bulk_sent_bytes += exchange_->bytes_sent();
  counters.bulk_received_bytes += exchange_->bytes_received();
}

Values SeatFragment::OwedOf(uint32_t span) const {
  const uint32_t index = span - recovery_.begin();
  return span < recovery_.begin() || index >= book_.owed().size()
             ? nullptr
             : book_.owed()[index].values;
}

}  // namespace skerry::worker
