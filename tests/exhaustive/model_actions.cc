// What may happen next, and that it happens.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "coordinator/core/testing/orders_of.h"
#include "tests/exhaustive/model.h"

namespace skerry::exhaustive {
namespace {

constexpr const char* kNames[] = {"tell",   "tell_old", "hear",      "recover",
                                  "fold",   "give up",  "begin",     "finish",
                                  "frame",  "store",    "lie",       "evaluate",
                                  "save",   "kill",     "lose_disk", "start",
                                  "expire", "deadline", "crash"};

}  // namespace

std::string Model::ToText(const Action& action) {
  std::string text = kNames[static_cast<int>(action.act)];
  if (action.act == Act::kDeadline || action.act == Act::kCrash) return text;
  absl::StrAppend(&text, " w", action.worker);
  if (action.act == Act::kFrame) {
    absl::StrAppend(&text, action.is_result ? " result to w" : " to w",
                    action.at);
  }
  if (action.act == Act::kRecover) absl::StrAppend(&text, " span ", action.at);
  if (action.fragment > 0) absl::StrAppend(&text, " of ", action.fragment);
  return text;
}

bool Model::IsFault(const Action& action) {
  switch (action.act) {
    case Act::kTellOld:
    case Act::kLie:
    case Act::kKill:
    case Act::kLoseDisk:
    case Act::kExpire:
    case Act::kCrash:
      return true;
    default:
      return false;
  }
}

std::vector<Action> Model::Actions(bool with_faults) const {
  std::vector<Action> actions;
  if (history_.ended()) return actions;
  for (size_t i = 0; i < workers_.size(); ++i) {
    const WorkerState& worker = workers_[i];
    if (!worker.alive) {
      AddDown(i, with_faults, actions);
      continue;
    }
    if (worker.told != SaysHash(worker)) actions.push_back({Act::kTell, i});
    const auto orders = coordinator::OrdersOf(cluster_, worker.name, now_);
    if (orders.ok() && orders->boot == worker.boot &&
        HashOf(*orders) != worker.heard) {
      actions.push_back({Act::kHear, i});
    }
    if (worker.seat.is_there) AddSeat(i, with_faults, actions);
    if (with_faults && left_.kills > 0) actions.push_back({Act::kKill, i});
    if (with_faults && left_.late > 0 && worker.before.has_value()) {
      actions.push_back({Act::kTellOld, i});
    }
  }
  const bool is_idle = std::all_of(actions.begin(), actions.end(), IsFault) &&
                       cluster_.NextDeadline().has_value();
  if (is_idle || (DeadlineIsNear() && with_faults && left_.deadlines > 0)) {
    actions.push_back({Act::kDeadline});
  }
  if (with_faults && left_.coordinator_crashes > 0) {
    actions.push_back({Act::kCrash});
  }
  return actions;
}

void Model::AddDown(size_t index, bool with_faults,
                    std::vector<Action>& to) const {
  const WorkerState& worker = workers_[index];
  to.push_back({Act::kStart, index});
  if (!with_faults) return;
  if (left_.expiries > 0 && worker.incarnation.is_set() &&
      coordinator::OrdersOf(cluster_, worker.name, now_).ok()) {
    to.push_back({Act::kExpire, index});
  }
  if (left_.disk_losses > 0 &&
      !(worker.disk.bases.empty() && worker.disk.results.empty())) {
    to.push_back({Act::kLoseDisk, index});
  }
}

void Model::AddSeat(size_t index, bool with_faults,
                    std::vector<Action>& to) const {
  const WorkerState& worker = workers_[index];
  const Seat& seat = worker.seat;
  for (uint32_t f = 0; f < seat.parts.size() && !seat.resting; ++f) {
    for (uint32_t span = seat.begin; span < seat.end; ++span) {
      if (!CanRecover(worker, f, span)) continue;
      to.push_back({Act::kRecover, index, f, span});
      // The others come with it.
      if (!scenario_.by_span) break;
    }
    const auto applied = seat.Applied(f);
    if (!seat.life.is_set() && applied.has_value() &&
        Foldable(worker, f, *applied) != nullptr) {
      to.push_back({Act::kFold, index, f});
    }
    if (seat.life.is_set() && IsAtGap(worker, f)) {
      to.push_back({Act::kGiveUp, index, f});
    }
    AddExchange(index, f, with_faults, to);
  }
  if (seat.running.has_value()) {
    to.push_back({Act::kFinish, index});
  } else if (!seat.resting && NextCut(index).has_value()) {
    to.push_back({Act::kBegin, index});
  }
  const auto& evaluations = seat.orders.evaluations;
  if (!evaluations.empty() && seat.HasState()) {
    uint64_t state = 0;
    for (uint32_t f = 0; f < seat.parts.size(); ++f) {
      state += seat.Applied(f)->value();
    }
    if (Sequence(state) == evaluations[0].sequence &&
        !seat.evaluated.contains(evaluations[0].sequence)) {
      to.push_back({Act::kEvaluate, index});
    }
  }
  if (seat.orders.checkpoint.has_value() &&
      (!seat.saved.has_value() ||
       seat.saved->sequence != seat.orders.checkpoint->sequence)) {
    to.push_back({Act::kSave, index});
  }
}

void Model::AddExchange(size_t index, uint32_t fragment, bool with_faults,
                        std::vector<Action>& to) const {
  const protocol::OpenExchange* open = NamedIn(workers_[index], fragment);
  if (open == nullptr) return;
  if (scenario_.by_link) {
    for (const Frame& frame : FramesTo(index, *open)) {
      if (frames_.contains(frame) || !IsSent(frame, fragment)) continue;
      to.push_back({Act::kFrame, frame.from, fragment, index, frame.is_result});
    }
  }
  if (!CanStore(index, fragment)) return;
  to.push_back({Act::kStore, index, fragment});
  // What a lone member says is the truth.
  if (with_faults && left_.lies > 0 && open->members.size() > 1) {
    to.push_back({Act::kLie, index, fragment});
  }
}

void Model::Do(const Action& action) {
  WorkerState& worker = workers_[action.worker];
  switch (action.act) {
    case Act::kTellOld:
      --left_.late;
      Deliver(worker, *std::exchange(worker.before, std::nullopt));
      break;
    case Act::kKill:
      --left_.kills;
      if (!first_kill_.has_value()) first_kill_ = now_;
      worker.alive = false;
      worker.seat = Seat();
      cluster_.OnStreamLost(worker.name, worker.boot, now_);
      Settle();
      break;
    case Act::kLoseDisk:
      --left_.disk_losses;
      worker.disk = Disk();
      break;
    case Act::kStart:
      worker.alive = true;
      Boot(worker);
      break;
    case Act::kExpire:
      --left_.expiries;
      Expire(worker);
      break;
    case Act::kLie:
      --left_.lies;
      Store(worker, action.fragment, true);
      break;
    case Act::kDeadline:
      left_.deadlines -= left_.deadlines > 0 ? 1 : 0;
      PassDeadline();
      break;
    case Act::kCrash:
      --left_.coordinator_crashes;
      Crash();
      break;
    default:
      GoOn(action);
  }
  if (!scenario_.by_link) SendAll();
  Check();
}

// What brings the job on.
void Model::GoOn(const Action& action) {
  WorkerState& worker = workers_[action.worker];
  Seat& seat = worker.seat;
  switch (action.act) {
    case Act::kTell:
      return Tell(worker);
    case Act::kHear:
      return Hear(worker);
    case Act::kRecover:
      return Recover(worker, action.fragment, static_cast<uint32_t>(action.at));
    case Act::kFold:
      return FoldOne(worker, action.fragment);
    case Act::kGiveUp:
      seat.abandoned = seat.life;
      return EndLife(seat, Life());
    case Act::kBegin:
      return Begin(action.worker);
    case Act::kFinish:
      return Finish(worker);
    case Act::kFrame:
      return Arrive(action);
    case Act::kStore:
      return Store(worker, action.fragment, false);
    case Act::kEvaluate:
      seat.evaluated.insert(seat.orders.evaluations[0].sequence);
      return;
    case Act::kSave:
      return Save(worker);
    default:
      SKERRY_CHECK(false);
  }
}

}  // namespace skerry::exhaustive
