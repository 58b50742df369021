// What the seat asks of the trainer beside rounds: initial values, evaluation,
// generation, a new one when it is unusable, and none once the job is over.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/core/seat_impl.h"

namespace skerry::worker {
namespace {

using protocol::EvaluationOrder;
using protocol::GeneratedFact;
using protocol::GenerateOrder;

constexpr size_t kEvaluationsMax = 64;

}  // namespace

void Seat::Impl::OnTrainerReady(Instant now,
                                const TrainerDescription& trainer) {
  if (configured_ && elements_ != trainer.element_count) {
    Fail(now, absl::StrCat("the trainer's model has ", trainer.element_count,
                           " elements, the job's has ", elements_));
    return;
  }
  trainer_ = trainer;
  trainer_ready_ = true;
  restarting_ = false;
  pristine_ = true;
  at_anchor_ = false;
  inner_.OnTrainer(trainer.saves_inner);
  TakeOrders(now);
  Changed();
  Advance(now);
}

void Seat::Impl::LoseTrainer() {
  trainer_scope_.End();
  trainer_uses_ = 0;
  trainer_ready_ = false;
  pristine_ = false;
  at_anchor_ = false;
  restarting_ = false;
  in_group_ = false;
  if (step_ != Step::kResting) step_ = Step::kAway;
}

void Seat::Impl::OnTrainerFailed(Instant now, const std::string& reason) {
  ++counters_.trainer_restarts;
  inner_.OnTrainerFailed();
  effects_.host.Event(absl::StrCat("trainer failed: ", reason));
  Abandon(now, reason);
  LoseTrainer();
  // Whoever asked can ask again; the job needs no trainer for itself.
  if (over()) RefuseGeneration(reason);
  Changed();
  Advance(now);
}

void Seat::Impl::OnTrainerEnded(Instant now) {
  EndLife("the job is over");
  LoseTrainer();
  Changed();
  Advance(now);
}

bool Seat::Impl::WantsTrainer() const {
  if (!over()) return true;
  // A group loads together, and the other ranks' trainers end with the job: a
  // prompt is answered by a fresh trainer.
  if (trainer_ready_ && in_group_) return false;
  if (!Works()) return false;
  const bool lacks_state =
      HasInitial() &&
      std::any_of(
          fragments_.begin(), fragments_.end(), [&](const auto& fragment) {
            const Sequence newest =
                orders_->fragments.size() == fragments_.size()
                    ? orders_->fragments[fragment->index()].newest
                    : Sequence();
            return newest.is_set() &&
                   (!configured_ || fragment->recovery().WantsInitial());
          });
  return lacks_state || DueGeneration() != nullptr;
}

bool Seat::Impl::IsAtRest() const {
  if (!over() || trainer_uses_ > 0) return false;
  if (!configured_ || begin() == end()) return true;
  if (step_ != Step::kResting) return false;
  return std::all_of(
      fragments_.begin(), fragments_.end(), [](const auto& fragment) {
        const Recovery& recovery = fragment->recovery();
        const auto& bases =
            fragment->history().Bases(recovery.begin(), recovery.end());
        return !bases.empty() && bases.back().sequence == recovery.applied();
      });
}

void Seat::Impl::OnTrainerError(Instant now, const absl::Status& status) {
  const std::string reason(status.message());
  Abandon(now, reason);
  // Aborted: only the group broke, and the next life makes another.
  if (absl::IsAborted(status) || restarting_) return;
  restarting_ = true;
  trainer_ready_ = false;
  effects_.trainer.Restart(status);
}

bool Seat::Impl::HasInitial() const {
  return !settings_.program || !trainer_ ||
         trainer_->initial_hash == orders_->initial_hash;
}

std::string Seat::Impl::InitialTrouble() const {
  if (HasInitial() || settings_.from_checkpoint || !trainer_ready_) return "";
  const bool waits = std::any_of(
      fragments_.begin(), fragments_.end(),
      [](const auto& one) { return one->recovery().WantsInitial(); });
  if (!waits) return "";
  return "its program begins with other values than the job's first trainer, "
         "and no worker that has those can be asked now";
}

void Seat::Impl::ConsiderInitial(Instant now) {
  const auto wanting = std::find_if(
      fragments_.begin(), fragments_.end(),
      [](const auto& one) { return one->recovery().WantsInitial(); });
  if (wanting == fragments_.end() || !trainer_free() || restarting_) return;
  if (settings_.from_checkpoint) {
    return Fail(now,
                "the base made from the checkpoint is damaged and no other "
                "worker has it; start this worker again, it then reads the "
                "checkpoint once more");
  }
  if (!HasInitial()) return;
  if (step_ != Step::kAway && step_ != Step::kJoin && step_ != Step::kClose) {
    return;
  }
  if (!pristine_) {
    OnTrainerError(now, absl::CancelledError("the initial values are needed"));
    return;
  }
  ++trainer_uses_;
  SeatFragment& fragment = **wanting;
  effects_.trainer.Snapshot(
      fragment.HeldElements(),
      trainer_scope_.Wrap([this, &fragment, first = begin(), last = end()](
                              Instant at, absl::Status status) {
        --trainer_uses_;
        if (!status.ok()) {
          OnTrainerError(at, status);
        } else if (first == begin() && last == end()) {
          fragment.recovery().OnInitial(at, effects_.trainer.memory());
        }
        // Spans that came to be held meanwhile are not in that memory.
        Advance(at);
      }));
}

bool Seat::Impl::RunTask() {
  if (!trainer_free() || !AllReady()) return false;
  return RunEvaluation() || RunGeneration();
}

bool Seat::Impl::RunEvaluation() {
  if (!trainer_->evaluates) return false;
  const Sequence applied = StateApplied();
  const EvaluationOrder* due = nullptr;
  for (const EvaluationOrder& order : orders_->evaluations) {
    if (order.sequence > applied) continue;
    const bool known = std::any_of(
        evaluations_.begin(), evaluations_.end(), [&](const Evaluated& one) {
          return one.fact.sequence >= order.sequence &&
                 one.samples_max >= order.samples_max;
        });
    if (!known) due = &order;
  }
  if (due == nullptr || !at_anchor_) return false;
  effects_.trainer.Evaluate(
      due->samples_max,
      OnTrainer<absl::StatusOr<EvaluationReport>>(
          [this, applied, samples_max = due->samples_max](
              Instant now, absl::StatusOr<EvaluationReport> report) {
            if (!report.ok()) return OnTrainerError(now, report.status());
            evaluations_.push_back(
                {{applied, report->loss, report->samples}, samples_max});
            if (evaluations_.size() > kEvaluationsMax) {
              evaluations_.erase(evaluations_.begin());
            }
            Changed();
          }));
  return true;
}

const GenerateOrder* Seat::Impl::DueGeneration() const {
  for (const GenerateOrder& order : orders_->generate) {
    const bool known = std::any_of(
        generated_.begin(), generated_.end(),
        [&](const GeneratedFact& one) { return one.request == order.request; });
    if (!known) return &order;
  }
  return nullptr;
}

void Seat::Impl::ForgetAnswers() {
  std::erase_if(generated_, [&](const GeneratedFact& one) {
    return std::none_of(
        orders_->generate.begin(), orders_->generate.end(),
        [&](const GenerateOrder& o) { return o.request == one.request; });
  });
}

void Seat::Impl::RefuseGeneration(const std::string& error) {
  while (const GenerateOrder* order = DueGeneration()) {
    generated_.push_back({order->request, "", error});
    Changed();
  }
}

bool Seat::Impl::RunGeneration() {
  const GenerateOrder* order = DueGeneration();
  if (order == nullptr) return false;
  effects_.trainer.Generate(
      {order->prompt, order->tokens, order->temperature, order->seed},
      OnTrainer<absl::StatusOr<std::string>>(
          [this, request = order->request](Instant now,
                                           absl::StatusOr<std::string> text) {
            GeneratedFact one{request, text.ok() ? *text : "", ""};
            if (!text.ok()) one.error = std::string(text.status().message());
            generated_.push_back(std::move(one));
            Changed();
          }));
  return true;
}

}  // namespace skerry::worker
