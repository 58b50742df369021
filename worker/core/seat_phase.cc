// What a seat is doing, in one word for the log.
#include "absl/strings/str_cat.h"
#include "worker/core/seat_impl.h"

namespace skerry::worker {

std::string_view Seat::Impl::PhaseOfRound() const {
  switch (step_) {
    case Step::kRunning:
      return "inner";
    case Step::kSnapshotting:
    case Step::kAdding:
      return "snapshot";
    case Step::kFold:
    case Step::kMerging:
    case Step::kLoading:
    case Step::kStart:
      return "apply";
    case Step::kCut:
    case Step::kRunEnded:
    case Step::kReady:
      return "idle";
    case Step::kAway:
    case Step::kJoin:
    case Step::kJoining:
    case Step::kClose:
      return "recover";
    case Step::kResting:
      return "rest";
  }
  return "";
}

std::string_view Seat::Impl::PhaseOfExchange() const {
  if (exchange_ == nullptr) return "";
  if (finished_attempt_ == exchange_->attempt()) return "commit";
  if (exchange_->complete()) return "report";
  return exchange_->in_second_hop() ? "hop2" : "hop1";
}

void Seat::Impl::ReportPhase() {
  std::string_view phase = PhaseOfRound();
  // Inner steps run beside an exchange, and waiting is waiting for it.
  if (phase == "inner" || phase == "idle") {
    const std::string_view exchange = PhaseOfExchange();
    if (!exchange.empty()) phase = exchange;
  }
  if (phase == phase_) return;
  phase_ = phase;
  effects_.host.Event(absl::StrCat(
      "phase ", absl::string_view(phase.data(), phase.size()),
      " round=", round_.value(), " seq=", recovery_.applied().value(),
      " attempt=", exchange_ == nullptr ? 0 : exchange_->attempt().value()));
}

}  // namespace skerry::worker
