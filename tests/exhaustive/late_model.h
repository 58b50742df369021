// tests/exhaustive/late_model.h
//
// Models one worker under a late merge (PROTOCOL 4.6) with its real book of
// live values: inner steps, ends of rounds, results with and without its own
// part, drops, apply points and pauses in any order. Beside it runs the rule in
// float64. Values are chosen so that both are exact.
#ifndef SKERRY_TESTS_EXHAUSTIVE_LATE_MODEL_H_
#define SKERRY_TESTS_EXHAUSTIVE_LATE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/check/violations.h"
#include "worker/core/live.h"

namespace skerry::exhaustive {

struct LateScenario {
  int rounds = 3;
  int steps = 2;  // of a round
  // Results without this worker's part.
  int others = 2;
  int drops = 0;
  int pauses = 0;
};

struct LateStep {
  enum class Act {
    kStep,
    kEnd,     // of the round: a contribution is made, and what came is applied
    kOther,   // a result without the worker's part comes
    kMine,    // one with it comes
    kApply,   // what came is applied: at a point, or in a pause
    kResume,  // the pause is over
    kDrop,
    kPause,
  };
  Act act = Act::kStep;
};

class LateModel {
 public:
  using Step = LateStep;

  // `found` outlives the model and all its copies.
  LateModel(const LateScenario& scenario, sim::Violations& found);

  std::vector<LateStep> Actions(bool with_faults) const;
  void Do(const LateStep& step);
  uint64_t Hash() const;
  bool IsBehindBounds() const { return false; }
  bool RunsToItsEnd(std::vector<std::string>* way);
  static bool IsFault(const LateStep& step) {
    return step.act >= LateStep::Act::kDrop;
  }
  static std::string ToText(const LateStep& step);

 private:
  bool IsBack() const { return !pending_ && on_way_at_ <= applied_; }
  bool IsDone() const;
  void Come(double result);
  void Apply(worker::LiveChange::At at);
  void Check(const char* when);

  LateScenario left_;
  const int steps_;
  sim::Violations* found_;
  // The worker: its book, the trainer's live value and the folded anchor.
  worker::LiveBook book_;
  float live_ = 0;
  float anchor_ = 0;
  // Results that have come; applied_ of them are in the anchor.
  std::vector<double> results_;
  size_t applied_ = 0;
  bool pending_ = false;
  // The number of results with which the newest contribution is in the anchor.
  size_t on_way_at_ = 0;
  bool kept_ = false;  // its share is in the base
  int taken_ = 0;      // steps of the round
  bool paused_ = false;
  bool moved_back_ = true;
  // The rule.
  double a_ = 0;
  double d_ = 0;
  double progress_ = 0;
};

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_LATE_MODEL_H_
