#include "worker/daemon/state_saver.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

constexpr int kFetchesAtOnce = 4;

// Returns the key of piece `index` of the order.
PieceKey KeyOf(const v1::CheckpointOrder& order, int index) {
  PieceKey key{PieceKey::Kind::kBase, Sequence(order.sequence()), Attempt(),
               static_cast<uint32_t>(index), order.pieces(index).hash()};
  const int fragments = order.fragment_sequences_size();
  if (fragments == 0) return key;
  const int spans = std::max(1, order.pieces_size() / fragments);
  const int fragment = std::min(index / spans, fragments - 1);
  key.fragment = static_cast<uint32_t>(fragment);
  key.span = static_cast<uint32_t>(index - fragment * spans);
  key.sequence = Sequence(order.fragment_sequences(fragment));
  return key;
}

}  // namespace

StateSaver::StateSaver(JobId job, Fetch fetch, Write write,
                       absl::AnyInvocable<void()> changed)
    : job_(job),
      fetch_(std::move(fetch)),
      write_(std::move(write)),
      changed_(std::move(changed)) {}

void StateSaver::OnOrders(const v1::JobOrders& orders, uint64_t elements) {
  if (busy_) return;
  if (!orders.has_checkpoint()) {
    if (outcome_.has_value() && !outcome_->error().empty()) outcome_.reset();
    return;
  }
  const v1::CheckpointOrder& order = orders.checkpoint();
  if (order.pieces().empty() || elements == 0 ||
      (outcome_.has_value() && outcome_->sequence() == order.sequence())) {
    return;
  }
  busy_ = true;
  spec_ = orders.spec();
  order_ = order;
  elements_ = elements;
  pieces_.assign(order.pieces_size(), SharedBytes());
  next_ = 0;
  failure_ = absl::OkStatus();
  outcome_.emplace().set_sequence(order.sequence());
  runtime::Log(runtime::Severity::kInfo, "worker.checkpoint.save",
               {{"job", job_.value()},
                {"sequence", order.sequence()},
                {"path", spec_.checkpoint().directory()}});
  changed_();
  Advance();
}

void StateSaver::Advance() {
  while (failure_.ok() && under_way_ < kFetchesAtOnce &&
         next_ < order_.pieces_size()) {
    ++under_way_;
    FetchPiece(next_++, 0);
  }
  if (under_way_ > 0) return;
  if (failure_.ok()) return WriteAll();
  v1::CheckpointOutcome outcome;
  outcome.set_sequence(order_.sequence());
  outcome.set_error(std::string(failure_.message()));
  Finish(std::move(outcome));
}

void StateSaver::FetchPiece(int span, int attempt) {
  const v1::StatePiece& piece = order_.pieces(span);
  if (piece.addresses().empty()) {
    failure_ = absl::InvalidArgumentError(
        absl::StrCat("nobody is named for span ", span));
    --under_way_;
    return;
  }
  const PieceKey key = KeyOf(order_, span);
  // Spans begin with different holders, so that all share the work.
  const int holder = (span + attempt) % piece.addresses_size();
  fetch_(piece.addresses(holder), key,
         [this, span, attempt, alive = std::weak_ptr<char>(alive_)](
             Instant, absl::StatusOr<SharedBytes> bytes) {
           if (alive.expired()) return;
           const bool more = attempt + 1 < order_.pieces(span).addresses_size();
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
         [this,
          alive = std::weak_ptr<char>(alive_)](v1::CheckpointOutcome outcome) {
           if (!alive.expired()) Finish(std::move(outcome));
         });
}

void StateSaver::Finish(v1::CheckpointOutcome outcome) {
  busy_ = false;
  pieces_.clear();
  if (outcome.error().empty()) {
    runtime::Log(runtime::Severity::kInfo, "worker.checkpoint.saved",
                 {{"job", job_.value()},
                  {"sequence", outcome.sequence()},
                  {"bytes", outcome.bytes()}});
  } else {
    runtime::Log(runtime::Severity::kError, "worker.checkpoint.failed",
                 {{"job", job_.value()},
                  {"sequence", outcome.sequence()},
                  {"cause", outcome.error()}});
  }
  outcome_ = std::move(outcome);
  changed_();
}

}  // namespace skerry::worker
