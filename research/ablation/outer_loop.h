// research/ablation/outer_loop.h
//
// DiLoCo (arXiv 2311.08105) on the toy: four workers that train apart by AdamW
// and exchange how far they moved after every round, by any codec.
#ifndef SKERRY_RESEARCH_ABLATION_OUTER_LOOP_H_
#define SKERRY_RESEARCH_ABLATION_OUTER_LOOP_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compression/codec.h"
#include "compression/testing/toy_model.h"

namespace skerry::compression {

constexpr int kToyWorkers = 4;

// One worker: AdamW whose moments are its own, and its live parameters.
class ToyWorker {
 public:
  explicit ToyWorker(std::vector<float> parameters);

  // Step `step` of `steps`, of the batch that (`number`, `step`) draws.
  void Step(const ToyModel& model, int number, uint64_t step, uint64_t steps);

  std::vector<float>& live() { return live_; }

 private:
  std::vector<float> live_;
  std::vector<float> m_;
  std::vector<float> v_;
  std::vector<float> gradient_;
};

struct OuterRule {
  float rate = 0.7f;
  float momentum = 0.9f;
};
// Nesterov's, of the anchor by the sum of all workers' pseudo-gradients.
void ToyOuterStep(const OuterRule& rule, std::span<const float> sum,
                  std::span<float> anchor, std::span<float> momentum);

struct OuterLoop {
  std::shared_ptr<const Codec> codec;
  bool feed_back = false;
  OuterRule rule = {};
  uint64_t inner_steps = 50;  // of a round
  float beta = 1.0f;          // of what is fed back
  uint64_t steps = 2000;
  int quiet_rounds = 0;  // the last ones, of which all is sent
};

// The anchor after all steps.
std::vector<float> TrainInRounds(const ToyModel& model, const OuterLoop& loop);

// A dense codec, which lives for ever.
std::shared_ptr<const Codec> Dense(CodecId id);

}  // namespace skerry::compression

#endif  // SKERRY_RESEARCH_ABLATION_OUTER_LOOP_H_
