// What a seat is doing, in one word for the log, and how far its fragments are.
#include <algorithm>

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
    case Step::kPointFold:
    case Step::kGoOn:
      return "apply";
    case Step::kCut:
    case Step::kPoint:
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
  for (const auto& fragment : fragments_) {
    if (!fragment->Phase().empty()) return fragment->Phase();
  }
  return "";
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
  Attempt attempt;
  for (const auto& fragment : fragments_) {
    if (!attempt.is_set()) attempt = fragment->open_attempt();
  }
  effects_.host.Trace(
      absl::StrCat("phase ", absl::string_view(phase.data(), phase.size()),
                   " round=", round_.value(), " seq=", StateApplied().value(),
                   " attempt=", attempt.value()));
}

bool Seat::Impl::AllReady() const {
  return std::all_of(
      fragments_.begin(), fragments_.end(),
      [](const auto& fragment) { return fragment->recovery().ready(); });
}

bool Seat::Impl::AllNewest() const {
  return std::all_of(
      fragments_.begin(), fragments_.end(), [](const auto& fragment) {
        return fragment->recovery().applied() >= fragment->orders().newest;
      });
}

bool Seat::Impl::AllDelivered() const {
  return std::all_of(fragments_.begin(), fragments_.end(),
                     [](const auto& fragment) {
                       return !fragment->Waits() && !fragment->IsAhead();
                     });
}

bool Seat::Impl::AllFollow() const {
  return std::all_of(fragments_.begin(), fragments_.end(),
                     [](const auto& fragment) {
                       return fragment->recovery().stored_through() >=
                              fragment->outcome_sequence();
                     });
}

Sequence Seat::Impl::StateApplied() const {
  uint64_t sum = 0;
  for (const auto& fragment : fragments_) {
    sum += fragment->recovery().applied().value();
  }
  return Sequence(sum);
}

}  // namespace skerry::worker
