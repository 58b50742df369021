#include "tests/exhaustive/late_model.h"

#include <bit>
#include <memory>
#include <span>

#include "absl/strings/str_cat.h"
#include "base/hash.h"

namespace skerry::exhaustive {
namespace {

using worker::LiveChange;
using Act = LateStep::Act;

constexpr const char* kNames[] = {"step",  "end",    "other", "mine",
                                  "apply", "resume", "drop",  "pause"};
constexpr int kStepsMax = 200;
constexpr double kShare = 0.5;
// Powers of two, so that no sum is rounded.
constexpr double kMove = 8;
constexpr double kOtherPart = 3;

}  // namespace

std::string LateModel::ToText(const LateStep& step) {
  return kNames[static_cast<int>(step.act)];
}

LateModel::LateModel(const LateScenario& scenario, sim::Violations& found)
    : left_(scenario), steps_(scenario.steps), found_(&found) {
  Apply(LiveChange::At::kBoundary);
}

std::vector<LateStep> LateModel::Actions(bool with_faults) const {
  std::vector<LateStep> steps;
  if (paused_) {
    steps.push_back({Act::kResume});
  } else if (taken_ < steps_ && left_.rounds > 0) {
    steps.push_back({Act::kStep});
  } else if (left_.rounds > 0 && !pending_) {
    steps.push_back({Act::kEnd});
  }
  if (left_.others > 0) steps.push_back({Act::kOther});
  if (pending_) steps.push_back({Act::kMine});
  // A pause is at a boundary.
  const bool inside = taken_ > 0 && taken_ < steps_;
  const bool news = applied_ < results_.size() || IsBack() != moved_back_;
  if (news && (inside || paused_)) steps.push_back({Act::kApply});
  if (!with_faults) return steps;
  if (left_.drops > 0 && pending_) steps.push_back({Act::kDrop});
  if (left_.pauses > 0 && !paused_ && taken_ == 0) {
    steps.push_back({Act::kPause});
  }
  return steps;
}

void LateModel::Do(const LateStep& step) {
  switch (step.act) {
    case Act::kStep: {
      const double move = kMove * (1 + taken_ + 2 * left_.rounds);
      live_ += static_cast<float>(move);
      progress_ += move;
      ++taken_;
      return;
    }
    case Act::kEnd: {
      --left_.rounds;
      const worker::SpanState anchor{
          Sequence(applied_),
          std::make_shared<const std::vector<float>>(1, anchor_), 0};
      const double made = (*book_.StartOf(0, anchor))[0] - live_;
      if (made != -progress_) {
        found_->Add("a contribution is not the progress of its round");
      }
      book_.Keep(0, std::make_shared<const std::vector<float>>(1, live_));
      d_ = -progress_;
      progress_ = 0;
      taken_ = 0;
      pending_ = true;
      kept_ = true;
      return Apply(LiveChange::At::kBoundary);
    }
    case Act::kOther:
      --left_.others;
      return Come(kOtherPart);
    case Act::kMine:
      pending_ = false;
      on_way_at_ = results_.size() + 1;
      return Come((d_ + kOtherPart) / 2);
    case Act::kApply:
      return Apply(paused_ ? LiveChange::At::kBoundary
                           : LiveChange::At::kApplyPoint);
    case Act::kResume:
      paused_ = false;
      return;
    case Act::kDrop:
      --left_.drops;
      pending_ = false;
      on_way_at_ = 0;
      return;
    case Act::kPause:
      --left_.pauses;
      paused_ = true;
      return;
  }
}

void LateModel::Come(double result) { results_.push_back(result); }

void LateModel::Apply(LiveChange::At at) {
  for (; applied_ < results_.size(); ++applied_) {
    anchor_ -= static_cast<float>(results_[applied_]);
    a_ -= results_[applied_];
  }
  moved_back_ = IsBack();
  if (moved_back_) kept_ = false;
  optimizer::OuterOptions options = *optimizer::OuterPreset("late");
  const worker::SpanState anchor{
      Sequence(applied_),
      std::make_shared<const std::vector<float>>(1, anchor_), 0};
  const worker::TrainerMemory memory{nullptr, std::span<float>(&live_, 1)};
  worker::Values start =
      book_.Merge(options, {at, moved_back_, static_cast<float>(kShare)}, 0,
                  anchor, {0, 1}, memory)();
  book_.Started(0, anchor, std::move(start));
  Check(ToText({at == LiveChange::At::kApplyPoint ? Act::kApply : Act::kEnd})
            .c_str());
}

void LateModel::Check(const char* when) {
  const double due = a_ - (kept_ ? kShare * d_ : 0) + progress_;
  if (live_ == due) return;
  found_->Add(absl::StrCat("after ", when, ", live is ", live_, ", not ", due));
}

bool LateModel::IsDone() const { return left_.rounds == 0 && !pending_; }

bool LateModel::RunsToItsEnd(std::vector<std::string>* way) {
  for (int step = 0; step < kStepsMax && !IsDone(); ++step) {
    if (found_->count() > 0) return false;
    const std::vector<LateStep> steps = Actions(false);
    if (steps.empty()) return false;
    // In no order, so that each has its turn.
    const LateStep next =
        steps[CombineHash(0, static_cast<uint64_t>(step)) % steps.size()];
    way->push_back(ToText(next));
    Do(next);
  }
  return IsDone();
}

uint64_t LateModel::Hash() const {
  uint64_t hash = 0;
  const auto add = [&hash](auto value) {
    hash = CombineHash(hash, static_cast<uint64_t>(value));
  };
  for (const int left :
       {left_.rounds, left_.others, left_.drops, left_.pauses, taken_}) {
    add(left);
  }
  add(pending_ + 2 * kept_ + 4 * paused_ + 8 * moved_back_);
  add(applied_);
  add(on_way_at_);
  add(results_.size());
  for (const double value : {static_cast<double>(live_), a_, d_, progress_}) {
    add(std::bit_cast<uint64_t>(value));
  }
  for (size_t i = applied_; i < results_.size(); ++i) {
    add(std::bit_cast<uint64_t>(results_[i]));
  }
  return hash;
}

}  // namespace skerry::exhaustive
