#include "trainer/testing/in_process_trainer.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "base/status.h"
#include "data/byte_tokenizer.h"
#include "data/token_shard.h"
#include "trainer/core/language_model_trainer.h"
#include "trainer/testing/forwarding_trainer.h"

namespace skerry::trainer {
namespace {

constexpr const char* kWords[] = {
    "the",    "sea",   "a",     "rock",  "wind",  "and",   "of",     "small",
    "island", "bird",  "stood", "over",  "water", "stone", "light",  "grey",
    "wave",   "far",   "out",   "from",  "shore", "boat",  "went",   "by",
    "night",  "day",   "under", "cloud", "rain",  "fell",  "on",     "it",
    "cold",   "green", "grass", "grew",  "there", "where", "nobody", "lived"};

// What the engine refers to.
struct Kept {
  std::string training;
  std::string validation;
  InlineExecutor executor;
};

}  // namespace

TrainingOptions SmallTrainingOptions() {
  TrainingOptions options;
  options.config_json = R"({
      "model_type": "gpt2", "vocab_size": 256, "n_positions": 32,
      "n_embd": 32, "n_layer": 2, "n_head": 2, "resid_pdrop": 0.0,
      "embd_pdrop": 0.0, "attn_pdrop": 0.0})";
  options.model_seed = 1;
  options.data_seed = 2;
  options.samples_total = 50 * 16;
  options.micro_batch_samples = 8;
  options.learning_rate = 3e-3f;
  return options;
}

TrainingOptions SmallLlamaOptions() {
  TrainingOptions options = SmallTrainingOptions();
  options.config_json = R"({
      "model_type": "llama", "vocab_size": 256, "max_position_embeddings": 32,
      "hidden_size": 36, "intermediate_size": 70, "num_hidden_layers": 2,
      "num_attention_heads": 6, "num_key_value_heads": 2})";
  return options;
}

TrainingOptions SmallDropoutOptions() {
  TrainingOptions options = SmallTrainingOptions();
  options.config_json = R"({
      "model_type": "gpt2", "vocab_size": 256, "n_positions": 32,
      "n_embd": 32, "n_layer": 2, "n_head": 2, "resid_pdrop": 0.1,
      "embd_pdrop": 0.05, "attn_pdrop": 0.2})";
  return options;
}

std::string MadeUpText(uint64_t seed, size_t bytes) {
  Random random(seed);
  std::string text;
  while (text.size() < bytes) {
    text += kWords[random.Below(std::size(kWords))];
    text += random.Below(12) == 0 ? ".\n" : " ";
  }
  text.resize(bytes);
  return text;
}

absl::StatusOr<std::unique_ptr<Trainer>> MakeInProcessTrainer(
    const TrainingOptions& options) {
  auto kept = std::make_shared<Kept>();
  SKERRY_ASSIGN_OR_RETURN(
      kept->training,
      data::EncodeTokenShard(data::EncodeBytes(MadeUpText(1, 20000))));
  SKERRY_ASSIGN_OR_RETURN(
      kept->validation,
      data::EncodeTokenShard(data::EncodeBytes(MadeUpText(2, 2000))));
  TrainingData data{.training = {},
                    .validation = {},
                    .tokenizer = std::string(data::kByteTokenizerName),
                    .vocab_size = data::kByteVocabSize};
  SKERRY_ASSIGN_OR_RETURN(
      const data::TokenShard training,
      data::TokenShard::Parse(std::as_bytes(std::span(kept->training))));
  SKERRY_ASSIGN_OR_RETURN(
      const data::TokenShard validation,
      data::TokenShard::Parse(std::as_bytes(std::span(kept->validation))));
  data.training.push_back(training);
  data.validation.push_back(validation);
  SKERRY_ASSIGN_OR_RETURN(
      auto engine,
      LanguageModelTrainer::Create(options, std::move(data), kept->executor));
  return std::make_unique<ForwardingTrainer>(std::move(engine),
                                             std::move(kept));
}

}  // namespace skerry::trainer
