// bench/micro/training_step.h
//
// Whole training steps of a GPT-2 on made-up tokens, for benches.
#ifndef SKERRY_BENCH_MICRO_TRAINING_STEP_H_
#define SKERRY_BENCH_MICRO_TRAINING_STEP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/executor.h"
#include "model/cpu/gemm.h"
#include "model/exec/language_model.h"
#include "model/spec/model_config.h"
#include "optimizer/inner/adamw.h"

namespace skerry {

struct StepShape {
  int vocab = 0;
  int columns = 0;  // tokens a sample, and the context
  int width = 0;
  int layers = 0;
  int heads = 0;
  int rows = 0;  // samples a step
};

model::ModelConfig ConfigOf(const StepShape& shape);

// Forward, backward, clipping and AdamW, as the trainer does them.
class TrainingStep {
 public:
  // `gemm` and `executor` outlive it.
  TrainingStep(const StepShape& shape, const model::cpu::GemmBackend& gemm,
               ParallelExecutor& executor);
  // Returns the loss.
  float Run();

  size_t tokens() const { return inputs_.size(); }
  size_t parameters() const { return model_->parameters().size(); }
  // Floating-point operations of a step, forward and backward.
  double flops() const;

 private:
  const StepShape shape_;
  ParallelExecutor& executor_;
  std::unique_ptr<model::LanguageModel> model_;
  std::unique_ptr<optimizer::AdamW> adamw_;
  std::vector<int32_t> inputs_;
  std::vector<int32_t> targets_;
};

}  // namespace skerry

#endif  // SKERRY_BENCH_MICRO_TRAINING_STEP_H_
