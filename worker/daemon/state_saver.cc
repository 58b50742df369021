#include "worker/daemon/state_saver.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

constexpr int kFetchesAtOnce = 4;

// Returns the key of piece `index` of the order.
PieceKey KeyOf(const protocol::CheckpointOrder& order, size_t index) {
  PieceKey key{PieceKey::Kind::kBase, order.sequence, Attempt(),
               static_cast<uint32_t>(index), order.pieces[index].hash};
  const size_t fragments = order.fragment_sequences.size();
  if (fragments == 0) return key;
  const size_t spans = std::max<size_t>(1, order.pieces.size() / fragments);
  const size_t fragment = std::min(index / spans, fragments - 1);
  key.fragment = static_cast<uint32_t>(fragment);
  key.span = static_cast<uint32_t>(index - fragment * spans);
  key.sequence = order.fragment_sequences[fragment];
  return key;
}

}  // namespace

StateSaver::StateSaver(JobId job, Fetch fetch, Write write,
                       absl::AnyInvocable<void()> changed)
    : job_(job),
      fetch_(std::move(fetch)),
      write_(std::move(write)),
      changed_(std::move(changed)) {}

void StateSaver::OnOrders(const protocol::JobOrders& orders,
                          uint64_t elements) {
  if (busy_) return;
  if (!orders.checkpoint.has_value()) {
    if (outcome_.has_value() && !outcome_->error.empty()) outcome_.reset();
    return;
  }
  const protocol::CheckpointOrder& order = *orders.checkpoint;
  if (order.pieces.empty() || elements == 0 ||
      (outcome_.has_value() && outcome_->sequence == order.sequence)) {
    return;
  }
  busy_ = true;
  spec_ = orders.spec;
  order_ = order;
  elements_ = elements;
  pieces_.assign(order.pieces.size(), SharedBytes());
  next_ = 0;
  failure_ = absl::OkStatus();
  outcome_.emplace().sequence = order.sequence;
  runtime::Log(
      runtime::Severity::kInfo, "worker.checkpoint.save",
      {{"job", job_.value()},
       {"sequence", order.sequence.value()},
       {"path",
        spec_.checkpoint.has_value() ? spec_.checkpoint->directory : ""}});
  changed_();
  Advance();
}

void StateSaver::Advance() {
  while (failure_.ok() && under_way_ < kFetchesAtOnce &&
         next_ < order_.pieces.size()) {
    ++under_way_;
    FetchPiece(next_++, 0);
  }
  if (under_way_ > 0) return;
  if (failure_.ok()) return WriteAll();
  Finish({order_.sequence, "", 0, std::string(failure_.message())});
}

void StateSaver::FetchPiece(size_t span, size_t attempt) {
  const protocol::StatePiece& piece = order_.pieces[span];
  if (piece.workers.empty()) {
    failure_ = absl::InvalidArgumentError(
        absl::StrCat("nobody is named for span ", span));
    --under_way_;
    return;
  }
  const PieceKey key = KeyOf(order_, span);
  // Spans begin with different holders, so that all share the work.
  const size_t holder = (span + attempt) % piece.workers.size();
  fetch_(piece.workers[holder], key,
         [this, span, attempt, alive = std::weak_ptr<char>(alive_)](
             Instant, absl::StatusOr<SharedBytes> bytes) {
           if (alive.expired()) return;
           const bool more = attempt + 1 < order_.pieces[span].workers.size();
           if (!bytes.ok() && more && failure_.ok()) {
             return FetchPiece(span, attempt + 1);
           }
           --under_way_;
           if (bytes.ok()) {
             pieces_[span] = *std::move(bytes);
           } else if (failure_.ok()) {
             failure_ = bytes.status();
           }
           Advance();
         });
}

void StateSaver::WriteAll() {
  write_({job_, spec_, order_, elements_, std::move(pieces_)},
         [this, alive = std::weak_ptr<char>(alive_)](CheckpointFact outcome) {
           if (!alive.expired()) Finish(std::move(outcome));
         });
}

void StateSaver::Finish(CheckpointFact outcome) {
  busy_ = false;
  pieces_.clear();
  if (outcome.error.empty()) {
    runtime::Log(runtime::Severity::kInfo, "worker.checkpoint.saved",
                 {{"job", job_.value()},
                  {"sequence", outcome.sequence.value()},
                  {"bytes", outcome.bytes}});
  } else {
    runtime::Log(runtime::Severity::kError, "worker.checkpoint.failed",
                 {{"job", job_.value()},
                  {"sequence", outcome.sequence.value()},
                  {"cause", outcome.error}});
  }
  outcome_ = std::move(outcome);
  changed_();
}

}  // namespace skerry::worker
