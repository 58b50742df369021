#include "trainer/testing/in_process_trainer.h"

#include <utility>
#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "base/status.h"
#include "data/byte_tokenizer.h"
#include "data/token_shard.h"
#include "trainer/core/language_model_trainer.h"

namespace skerry::trainer {
namespace {

constexpr const char* kWords[] = {
    "the",    "sea",   "a",     "rock",  "wind",  "and",   "of",     "small",
    "island", "bird",  "stood", "over",  "water", "stone", "light",  "grey",
    "wave",   "far",   "out",   "from",  "shore", "boat",  "went",   "by",
    "night",  "day",   "under", "cloud", "rain",  "fell",  "on",     "it",
    "cold",   "green", "grass", "grew",  "there", "where", "nobody", "lived"};

class InProcessTrainer final : public Trainer {
 public:
  static absl::StatusOr<std::unique_ptr<Trainer>> Make(
      const TrainingOptions& options) {
    auto trainer = std::make_unique<InProcessTrainer>();
    SKERRY_ASSIGN_OR_RETURN(
        trainer->training_,
        data::EncodeTokenShard(data::EncodeBytes(MadeUpText(1, 20000))));
    SKERRY_ASSIGN_OR_RETURN(
        trainer->validation_,
        data::EncodeTokenShard(data::EncodeBytes(MadeUpText(2, 2000))));
    TrainingData data{.training = {},
                      .validation = {},
                      .tokenizer = std::string(data::kByteTokenizerName),
                      .vocab_size = data::kByteVocabSize};
    SKERRY_ASSIGN_OR_RETURN(
        const data::TokenShard training,
        data::TokenShard::Parse(std::as_bytes(std::span(trainer->training_))));
    SKERRY_ASSIGN_OR_RETURN(const data::TokenShard validation,
                            data::TokenShard::Parse(std::as_bytes(
                                std::span(trainer->validation_))));
    data.training.push_back(training);
    data.validation.push_back(validation);
    SKERRY_ASSIGN_OR_RETURN(
        trainer->engine_, LanguageModelTrainer::Create(options, std::move(data),
                                                       trainer->executor_));
    return trainer;
  }

  const Description& description() const override {
    return engine_->description();
  }
  absl::StatusOr<RunResult> Run(const RunRequest& request,
                                StopRequested stop) override {
    return engine_->Run(request, stop);
  }
  absl::Status Snapshot(std::span<const ElementRange> ranges,
                        std::span<float> state) override {
    return engine_->Snapshot(ranges, state);
  }
  absl::Status Load(std::span<const ElementRange> ranges,
                    std::span<const RankRange> owners,
                    std::span<const float> state) override {
    return engine_->Load(ranges, owners, state);
  }
  absl::Status JoinGroup(Collective* island) override {
    return engine_->JoinGroup(island);
  }
  absl::StatusOr<uint64_t> SaveInner(const InnerLabel& label,
                                     InnerFile& file) override {
    return engine_->SaveInner(label, file);
  }
  absl::StatusOr<InnerProgress> LoadInner(uint64_t layout_hash,
                                          InnerFile& file) override {
    return engine_->LoadInner(layout_hash, file);
  }
  absl::StatusOr<EvaluateResult> Evaluate(uint64_t samples_max,
                                          StopRequested stop) override {
    return engine_->Evaluate(samples_max, stop);
  }
  absl::StatusOr<std::string> Generate(const GenerateRequest& request,
                                       StopRequested stop) override {
    return engine_->Generate(request, stop);
  }

 private:
  std::string training_;
  std::string validation_;
  InlineExecutor executor_;
  std::unique_ptr<LanguageModelTrainer> engine_;
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
  return InProcessTrainer::Make(options);
}

}  // namespace skerry::trainer
