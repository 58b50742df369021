// model/exec/token_decoder.h
//
// Runs a model forward on a few tokens at a time to generate text, and keeps
// the keys and values of the tokens before them.
#ifndef SKERRY_MODEL_EXEC_TOKEN_DECODER_H_
#define SKERRY_MODEL_EXEC_TOKEN_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/executor.h"
#include "model/cpu/gemm.h"
#include "model/exec/lanes.h"
#include "model/spec/graph.h"

namespace skerry::model {

// Sequences grow in slots of their own, side by side. The logits are those of
// LanguageModel::Logits on the same sequence, but for rounding.
class TokenDecoder {
 public:
  struct Options {
    int slots = 1;
    // Tokens a sequence may have.
    int context = 0;
    // Tokens of one call, at most.
    int tokens_max = 64;
  };
  struct SlotToken {
    int slot = 0;
    int32_t token = 0;
  };

  // The most tokens that a sequence may have in a model that sees `positions`.
  // With dynamic rotary scaling it is at most the length that the model was
  // made for: a longer sequence turns its earlier keys anew, and the kept keys
  // cannot follow.
  static int ContextMax(const Graph& graph, int positions);

  // `graph`, `gemm` and `executor` outlive the decoder. Errors: InvalidArgument
  // for a context beyond ContextMax; ResourceExhausted when the buffers cannot
  // be had.
  static absl::StatusOr<std::unique_ptr<TokenDecoder>> Create(
      const Graph& graph, int positions, const Options& options,
      const cpu::GemmBackend& gemm, ParallelExecutor& executor);

  // Tokens that a slot holds.
  int length(int slot) const { return lengths_[static_cast<size_t>(slot)]; }
  void Clear(int slot) { lengths_[static_cast<size_t>(slot)] = 0; }

  // Puts each token behind what its slot holds; several of one slot are put in
  // order. `logits` takes the model's opinion after each of the last
  // logits.size() / vocabulary tokens. Requires: 1 to tokens_max tokens of the
  // vocabulary, and room in their slots.
  void Append(std::span<const SlotToken> tokens,
              std::span<const float> parameters, std::span<float> logits);

 private:
  // Keys and values of one attention operator, each as [slot][position][width].
  struct Cache {
    std::vector<float> keys;
    std::vector<float> values;
  };

  TokenDecoder(const Graph& graph, const Options& options,
               const cpu::GemmBackend& gemm, ParallelExecutor& executor);
  void Allocate();

  float* ValueOf(int value) {
    return values_[static_cast<size_t>(value)].data();
  }
  const float* Tensor(int tensor) const;
  size_t CacheAt(const Operator& op, int slot, int position) const;

  void Run(size_t index);
  void Embed(const Operator& op);
  void Normalize(const Operator& op);
  void Multiply(const Operator& op, size_t first, size_t count, float* out);
  void Rotate(const Operator& op);
  void Attend(size_t index);
  void Combine(const Operator& op);

  const Graph& graph_;
  const Options options_;
  const cpu::GemmBackend& gemm_;
  const Lanes lanes_;
  std::vector<int> lengths_;
  std::vector<std::vector<float>> values_;
  // By operator; empty where it does not attend.
  std::vector<Cache> caches_;
  std::vector<float> cosines_;
  std::vector<float> sines_;
  std::vector<float> statistics_;
  // [lane][context]
  std::vector<float> scores_;
  // Where each token of the current call stands in its sequence.
  std::vector<int> positions_;
  std::span<const SlotToken> tokens_;
  std::span<const float> parameters_;
};

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_TOKEN_DECODER_H_
