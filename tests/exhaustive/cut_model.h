// tests/exhaustive/cut_model.h
//
// Models how the workers of a replica agree on one cut (PROTOCOL 4.2.2), at
// boundaries and at apply points (4.6), with the head's real agreement and
// ranks that ask it as a seat does. A copy of the model is made by repeating
// its steps.
#ifndef SKERRY_TESTS_EXHAUSTIVE_CUT_MODEL_H_
#define SKERRY_TESTS_EXHAUSTIVE_CUT_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/check/violations.h"
#include "worker/core/cut_agreement.h"

namespace skerry::exhaustive {

struct CutScenario {
  uint32_t ranks = 2;
  uint64_t commits = 1;
  uint64_t rounds = 2;
  // Lives after the first.
  int lives = 0;
  // Questions and answers that are lost.
  int losses = 0;
  // Questions that arrive twice.
  int repeats = 0;
  // Apply points of a round, each of which is an agreement of its own
  // (PROTOCOL 4.6); the boundary is the first.
  uint32_t points = 1;
  // The last rank is of a release that does not stop inside a round.
  bool one_runs_through = false;
};

struct CutStep {
  enum class Act {
    kStore,     // rank `index` has stored the next result
    kHear,      // it hears of the newest life
    kAsk,       // it asks, or asks again
    kQuestion,  // question `index` arrives at the head
    kDecide,
    kAnswer,  // answer `index` arrives
    kNewLife,
    kLoseQuestion,
    kLoseAnswer,
    kRepeat,  // question `index` arrives, and once more later
  };
  Act act = Act::kStore;
  size_t index = 0;
};

class CutModel {
 public:
  using Step = CutStep;

  // `found` outlives the model and all its copies.
  CutModel(const CutScenario& scenario, sim::Violations& found);
  CutModel(const CutModel& other);
  CutModel& operator=(const CutModel&) = delete;

  std::vector<CutStep> Actions(bool with_faults) const;
  void Do(const CutStep& step);
  uint64_t Hash() const;
  bool IsBehindBounds() const { return false; }
  bool RunsToItsEnd(std::vector<std::string>* way);
  static bool IsFault(const CutStep& step);
  static std::string ToText(const CutStep& step);

 private:
  struct Rank {
    Life life{1};
    Round round{1};
    Sequence stored;
    Sequence applied;
    // What it has asked last with; unset when it may ask again.
    std::optional<Sequence> asked;
    // In how many runs the rest of its round is made. With 1, it asks next at
    // the boundary.
    uint32_t runs = 1;
  };
  struct Answer {
    uint32_t rank = 0;
    // As it asked.
    Life life;
    Round round;
    Sequence asked;
    // Unset: an error.
    std::optional<Sequence> cut;
    uint32_t runs = 0;
  };

  void Apply(const CutStep& step);
  void Happen(const CutStep& step);
  void Forget();
  void Ask(uint32_t rank);
  void Arrive(const worker::CutRequest& question);
  void Take(const Answer& answer);
  bool CanDecide() const;
  bool Stops(uint32_t rank) const {
    return !scenario_.one_runs_through || rank + 1 < scenario_.ranks;
  }
  bool IsDone() const;

  const CutScenario scenario_;
  sim::Violations* found_;
  CutScenario left_;
  std::vector<CutStep> log_;
  Life life_{1};
  std::vector<Rank> ranks_;
  std::vector<worker::CutRequest> questions_;
  std::vector<Answer> answers_;
  // At the head, without an answer.
  std::vector<worker::CutRequest> waiting_;
  // What the head has decided in its life.
  std::vector<Sequence> decided_;
  // What was begun with: one cut and one number of runs for all ranks.
  std::map<std::pair<Life, Round>, std::pair<Sequence, uint32_t>> begun_;
  // Last: it answers what still waits when it ends.
  worker::CutAgreement agreement_;
};

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_CUT_MODEL_H_
