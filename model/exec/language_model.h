// model/exec/language_model.h
//
// A causal language model on CPU cores: parameters and gradients in flat
// arrays, forward and backward over a batch of token sequences.
//
// The same calls give the same bits on one machine and one thread count.
// After Create no call allocates (a GEMM library may keep buffers of its own).
#ifndef SKERRY_MODEL_EXEC_LANGUAGE_MODEL_H_
#define SKERRY_MODEL_EXEC_LANGUAGE_MODEL_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/executor.h"
#include "model/exec/initialize_parameters.h"
#include "model/exec/recompute.h"
#include "model/spec/graph.h"
#include "model/spec/model_config.h"
#include "model/spec/parameter_layout.h"

namespace skerry::model {

namespace cpu {
class GemmBackend;
}  // namespace cpu

// `rows` sequences of `columns` tokens; token t of row r is at r*columns + t.
struct Batch {
  int rows = 0;
  int columns = 0;
  std::span<const int32_t> inputs;
  std::span<const int32_t> targets;
  // The numbers of the rows' samples, for dropout. Training drops the same
  // values of a sample whatever batch it is in. Without numbers nothing is
  // dropped.
  std::span<const uint64_t> samples = {};
};

class LanguageModel {
 public:
  struct Options {
    int rows_max = 1;
    int columns_max = 0;  // 0: the config's n_positions
    // Which library multiplies matrices; null: cpu::DefaultGemmBackend().
    const cpu::GemmBackend* gemm = nullptr;
    Recompute recompute = Recompute::kNothing;
    uint64_t dropout_seed = 0;
  };

  // Parameters and gradients start as zeros. `executor` outlives the model.
  //
  // Errors: InvalidArgument for a config that ValidateModelConfig refuses, and
  // for options out of range; ResourceExhausted when the buffers cannot be
  // had.
  static absl::StatusOr<std::unique_ptr<LanguageModel>> Create(
      const ModelConfig& config, const Options& options,
      ParallelExecutor& executor);
  ~LanguageModel();
  LanguageModel(const LanguageModel&) = delete;
  LanguageModel& operator=(const LanguageModel&) = delete;

  const ModelConfig& config() const;
  const Graph& graph() const;
  const ParameterLayout& layout() const;
  std::span<float> parameters();  // flat, in layout order
  std::span<float> gradients();   // likewise
  void ZeroGradients();

  // Whether the batch fits this model: sizes within the options, spans of
  // rows*columns ids, every id in [0, vocab_size), a sample's number for each
  // row or none. Token ids come from files,
  // so check every batch here first; the calls below require it.
  //
  // Errors: InvalidArgument that names the first offender.
  absl::Status ValidateBatch(const Batch& batch) const;

  // Returns the mean cross-entropy in nats over rows*columns tokens, and adds
  // d(scale * that mean) / d(parameters) to gradients(). The one call that
  // drops something.
  float ForwardBackward(const Batch& batch, float scale);

  // Forward only.
  float Loss(const Batch& batch);

  // logits[(r*columns + t)*vocab_size + v].
  void Logits(std::span<const int32_t> inputs, int rows, int columns,
              std::span<float> logits);

 private:
  class Impl;
  explicit LanguageModel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_LANGUAGE_MODEL_H_
