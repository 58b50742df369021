// trainer/core/text_generator.h
//
// Generates texts with a model, several at a time.
#ifndef SKERRY_TRAINER_CORE_TEXT_GENERATOR_H_
#define SKERRY_TRAINER_CORE_TEXT_GENERATOR_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/executor.h"
#include "data/tokenizer/text_codec.h"
#include "model/cpu/gemm.h"
#include "model/spec/graph.h"
#include "trainer/core/token_sampler.h"
#include "trainer/core/trainer.h"

namespace skerry::trainer {

inline constexpr uint64_t kGeneratedTokensMax = 65536;

struct TextOptions {
  // To add to each prompt, at most.
  uint64_t tokens = 0;
  Sampling sampling = {};
  // Prompt i is drawn for with seed + i, whatever the others are.
  uint64_t seed = 0;
  // A text ends before the first of these that it contains. None is empty.
  std::vector<std::string> stops = {};
  // Tokens that end a text beside the codec's end of a document.
  std::vector<int32_t> ends = {};
};
// Errors: InvalidArgument that names the field.
absl::Status ValidateTextOptions(const TextOptions& options);

enum class TextEnd { kLength, kStop, kDocument };

struct GeneratedText {
  // Without the prompt. Bytes: it may end inside a character.
  std::string text;
  uint64_t tokens = 0;
  TextEnd end = TextEnd::kLength;
};

// What is run; all of it is borrowed.
struct TextModel {
  const model::Graph& graph;
  std::span<const float> parameters;
  // Tokens that the model looks back on, itself included, at most.
  int context = 0;
  const model::cpu::GemmBackend& gemm;
  ParallelExecutor& executor;
};

// Generates one text for each prompt, in their order. A sequence that has
// reached the context goes on from its last half. With dynamic rotary scaling
// it does so at the length that the model was made for. Only numbers that the
// codec has tokens for are drawn. Requires: the options are valid. Errors:
// InvalidArgument when the codec's tokens are not the model's; Aborted when
// `stop` says so; Internal when the model's output is not finite; those of the
// codec.
absl::StatusOr<std::vector<GeneratedText>> GenerateTexts(
    const TextModel& model, data::TextCodec& codec,
    std::span<const std::string> prompts, const TextOptions& options,
    StopRequested stop);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_TEXT_GENERATOR_H_
