// Attempts and outcomes, PROTOCOL 4.3 and 4.4.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/core/seat_impl.h"

namespace skerry::worker {
namespace {

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

}  // namespace

void Seat::Impl::ConsiderOutcome(Instant now) {
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
  if (!life_.is_set() || !orders_->outcome || !book_.pending() ||
      book_.busy() || orders_->outcome->round != book_.pending()->round) {
    return;
  }
  const Outcome outcome = *orders_->outcome;
  if (outcome.kind == Outcome::Kind::kPending) return;
  if (outcome.kind == Outcome::Kind::kDropped) {
    effects_.host.Event(
        absl::StrCat("round ", outcome.round.value(), " was dropped"));
    book_.Drop();
    Changed();
    return;
  }
  if (exchange_ == nullptr || exchange_->attempt() != outcome.attempt) {
    return Fail(
        now, absl::StrCat("round ", outcome.round.value(),
                          " was committed in attempt ", outcome.attempt.value(),
                          ", in which this worker sent nothing"));
  }
  book_.Settle(
      *exchange_, orders_->settings.beta,
      seat_scope_.Wrap([this, outcome](Instant at, absl::Status status) {
        if (status.ok()) {
          outcome_sequence_ = outcome.sequence;
          if (exchange_ != nullptr && exchange_->complete() &&
              finished_attempt_ == exchange_->attempt()) {
            CloseExchange();
          }
          Changed();
        } else if (!absl::IsAborted(status)) {
          Fail(at, std::string(status.message()));
        }
        Advance(at);
      }));
}

void Seat::Impl::ConsiderExchange(Instant now) {
  if (!orders_->open || orders_->open->attempt < newest_attempt_) return;
  const OpenExchange& open = *orders_->open;
  if (open.attempt > newest_attempt_) {
    newest_attempt_ = open.attempt;
    CloseExchange();
    effects_.bulk.ForgetBefore(open.attempt);
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
    if (!fit.ok()) return Fail(now, std::string(fit.message()));
    return OpenAttempt(open, m);
  }
}

void Seat::Impl::OpenAttempt(const OpenExchange& open, uint32_t self) {
  effects_.host.Event(absl::StrCat("attempt ", open.attempt.value(),
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
  exchange_->Start();
}

void Seat::Impl::OnExchangeEnd(Instant now, absl::Status status) {
  if (!status.ok()) {
    effects_.host.Event(absl::StrCat("attempt ", exchange_->attempt().value(),
                                     ": ", status.message()));
    return;
  }
  StoredResultFact fact{exchange_->sequence(),
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
      seat_scope_.Wrap([this, file, fact](Instant at, absl::Status) {
        recovery_.OnStored(file);
        if (exchange_ != nullptr && exchange_->attempt() == fact.attempt) {
          finished_attempt_ = fact.attempt;
          stored_ = fact;
        }
        Changed();
        Advance(at);
      }));
}

void Seat::Impl::CloseExchange() {
  if (exchange_ == nullptr) return;
  counters_.payload_bytes_sent += exchange_->bytes_sent();
  counters_.payload_bytes_received += exchange_->bytes_received();
  counters_.parts_repeated += exchange_->parts_repeated();
  exchange_.reset();
  // Should its result be committed, it has to be fetched.
  recovery_.Hold(Attempt(), Instant());
}

}  // namespace skerry::worker
