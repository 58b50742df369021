// model/exec/graph_runner.h
//
// Runs a graph forward and backward on CPU kernels, in buffers that are laid
// out once.
#ifndef SKERRY_MODEL_EXEC_GRAPH_RUNNER_H_
#define SKERRY_MODEL_EXEC_GRAPH_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/executor.h"
#include "model/cpu/dropout_mask.h"
#include "model/cpu/gemm.h"
#include "model/cpu/rotate.h"
#include "model/exec/buffer_plan.h"
#include "model/exec/lanes.h"
#include "model/exec/memory_plan.h"
#include "model/spec/graph.h"

namespace skerry::model {

// The sequences that one pass runs on.
struct TokenBlock {
  int rows = 0;
  int columns = 0;
  std::span<const int32_t> ids;  // rows * columns
  // The numbers of the rows' samples. Together with dropout_seed they decide
  // what is dropped of each row. If there are none, nothing is dropped.
  std::span<const uint64_t> samples = {};
  uint64_t dropout_seed = 0;

  size_t tokens() const { return static_cast<size_t>(rows) * columns; }
};

// One pass is Forward, then one of the Head calls, then HeadBackward, then
// Backward. The values of the last Forward are kept in between. Parameters and
// gradients are flat, in the order of the graph's layout.
//
// If blocks are recomputed, Backward computes the values of all blocks but the
// last again. They have the same bits, because the same calls make them.
//
// For a stage that is not the last (graph_cut.h), one pass is Forward, and
// Backward once the gradients of the stage's outputs are filled in. Stages run
// in their order forward and in the opposite order backward. They make the same
// calls of the same kernels as the whole graph, so they give the same bits.
class GraphRunner {
 public:
  // Errors: ResourceExhausted when the buffers cannot be had.
  // `graph`, `gemm` and `executor` outlive the runner.
  static absl::StatusOr<std::unique_ptr<GraphRunner>> Create(
      const Graph& graph, int rows_max, int columns_max, Recompute recompute,
      const cpu::GemmBackend& gemm, ParallelExecutor& executor);

  // Runs all operators before the head. Stages that embed no tokens need no
  // ids.
  void Forward(const TokenBlock& block, std::span<const float> parameters);

  void HeadLogits(std::span<const float> parameters, std::span<float> logits);
  // Returns the sum over tokens of the cross-entropy in nats.
  double HeadLoss(std::span<const int32_t> targets,
                  std::span<const float> parameters);
  // Returns the same, and starts the backward pass of `factor` times that sum
  // by adding to the gradients of the head's weight.
  double HeadBackward(std::span<const int32_t> targets, float factor,
                      std::span<const float> parameters,
                      std::span<float> gradients);

  // Adds to the gradients of everything before the head.
  void Backward(std::span<const float> parameters, std::span<float> gradients);

  // Returns `tokens` vectors of a value that is an input or an output of the
  // stage. The caller fills in inputs before Forward. Forward computes outputs.
  std::span<float> Crossing(int value, size_t tokens);
  // Returns the gradient of such a value. The caller fills in the gradients of
  // outputs before Backward. Backward computes those of inputs, or HeadBackward
  // does if nothing comes before the head. A value that only passes through has
  // one gradient, which the caller fills in.
  std::span<float> CrossingGradient(int value, size_t tokens);

 private:
  struct FreeBuffer {
    void operator()(float* buffer) const;
  };
  using Buffer = std::unique_ptr<float, FreeBuffer>;

  GraphRunner(const Graph& graph, int rows_max, int columns_max,
              Recompute recompute, const cpu::GemmBackend& gemm,
              ParallelExecutor& executor);
  absl::Status Allocate();

  const Operator& Head() const { return *(graph_.operators.end() - 2); }
  float* At(int64_t offset) { return values_.get() + offset * tokens_max_; }
  float* ValueOf(int value) { return At(plan_.value_offset[value]); }
  float* GradientOf(int value) { return At(plan_.gradient_offset[value]); }
  float* LaneScratch(int lane) {
    return scratch_.get() + lane * buffers_.lane_scratch;
  }

  // C = op(A) op(B) + beta C, cut along the longer side of C: every thread
  // reads all of the operand of the other one.
  void Multiply(const cpu::GemmShape& shape, const float* a, int lda,
                const float* b, int ldb, float beta, float* c, int ldc);

  void ForwardOne(int index, const float* parameters);
  void BackwardOne(int index, const float* parameters, float* gradients);

  void EmbeddingForward(const Operator& op, const float* parameters);
  void LayerNormForward(int index, const float* parameters);
  void RmsNormForward(int index, const float* parameters);
  void LinearForward(int index, const float* parameters);
  void RotaryForward(const Operator& op);
  void AttentionForward(int index);
  void ActivationForward(const Operator& op);
  void SwiGluForward(const Operator& op);
  void ResidualForward(int index);
  void DropoutForward(const Operator& op);

  void EmbeddingBackward(const Operator& op, float* gradients);
  void LayerNormBackward(int index, const float* parameters, float* gradients);
  void RmsNormBackward(int index, const float* parameters, float* gradients);
  void LinearBackward(int index, const float* parameters, float* gradients);
  void RotaryBackward(const Operator& op);
  void AttentionBackward(int index);
  void ActivationBackward(int index);
  void SwiGluBackward(const Operator& op);
  void DropoutBackward(int index);

  // Copies `in` to `out` with the operator's dropout applied.
  void Drop(const Operator& op, const float* in, float* out);
  // The mask for a row of the block that is `stream` masks after the operator's
  // first. It drops nothing if the block has no samples.
  cpu::DropoutMask MaskOf(const Operator& op, size_t row, size_t stream) const;

  // How the rotary operator turns tokens [begin, end).
  cpu::RotateShape RotationOf(const Operator& op, size_t begin,
                              size_t end) const;
  // Fills the rotary tables for sequences of `columns` tokens.
  void PrepareRotary(int columns);

  // The head's logits for tokens [begin, begin + count).
  void HeadForward(size_t begin, size_t count, const float* parameters,
                   float* logits);

  // Null for kNone.
  template <typename T>
  T* Tensor(T* flat, int tensor) const {
    if (tensor == kNone) return nullptr;
    return flat + graph_.layout.tensor(tensor).offset;
  }

  const Graph& graph_;
  const MemoryPlan plan_;
  const cpu::GemmBackend& gemm_;
  const Lanes lanes_;
  const int columns_max_;
  const int64_t tokens_max_;
  const BufferPlan buffers_;
  int rotary_columns_ = 0;  // the sequences that the tables are for
  TokenBlock block_;        // of the last Forward
  Buffer values_;
  Buffer logits_;
  Buffer losses_;
  Buffer scratch_;
  Buffer cosines_;
  Buffer sines_;
};

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_GRAPH_RUNNER_H_
