// model/exec/stage_sequence_testutil.h
//
// Runs the stages of a cut model one after another, each with parameters,
// gradients and buffers of its own. Values that go from one stage to another
// are copied, as if they were sent. Nothing else is shared.
#ifndef SKERRY_MODEL_EXEC_STAGE_SEQUENCE_TESTUTIL_H_
#define SKERRY_MODEL_EXEC_STAGE_SEQUENCE_TESTUTIL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/executor.h"
#include "model/cpu/gemm.h"
#include "model/exec/graph_runner.h"
#include "model/exec/language_model.h"
#include "model/spec/graph_cut.h"

namespace skerry::model {

// A mistake that a pipeline could make.
enum class Mistake {
  kNone,
  kDropsAGradient,   // of the last value that crosses each cut
  kSumsSharedApart,  // and adds the stages' sums at the end
};

class StageSequence {
 public:
  // `whole`, `gemm` and `executor` outlive it. `parameters` are the whole
  // model's.
  StageSequence(const Graph& whole, std::span<const int> cuts, int rows,
                int columns, Recompute recompute,
                std::span<const float> parameters, uint64_t dropout_seed,
                const cpu::GemmBackend& gemm, ParallelExecutor& executor,
                Mistake mistake = Mistake::kNone);

  // As LanguageModel's.
  float ForwardBackward(const Batch& batch, float scale);
  // In the layout of the whole model.
  std::vector<float> Gradients() const;

 private:
  struct Member {
    const StageGraph* stage;
    std::unique_ptr<GraphRunner> runner;
    std::vector<float> parameters;
    std::vector<float> gradients;
  };

  void SendForward(size_t from, size_t tokens);
  void SendBack(size_t from, size_t tokens);
  // The slice of member `index`'s gradients that is `tensor` of the whole.
  std::span<float> GradientOf(size_t index, int tensor);
  // Before stage `index` runs back.
  void TakeSharedSums(size_t index);

  const Graph& whole_;
  const std::vector<StageGraph> stages_;
  const std::vector<SharedTensor> shared_;
  const uint64_t dropout_seed_;
  const Mistake mistake_;
  std::vector<Member> members_;
};

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_STAGE_SEQUENCE_TESTUTIL_H_
