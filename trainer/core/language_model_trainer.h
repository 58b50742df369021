// trainer/core/language_model_trainer.h
//
// The engine behind the trainer seam: a language model, its inner optimizer and
// the data.
#ifndef SKERRY_TRAINER_CORE_LANGUAGE_MODEL_TRAINER_H_
#define SKERRY_TRAINER_CORE_LANGUAGE_MODEL_TRAINER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/executor.h"
#include "data/sample_source.h"
#include "data/token_shard.h"
#include "data/tokenizer/text_codec.h"
#include "model/cpu/gemm.h"
#include "model/exec/language_model.h"
#include "optimizer/inner/inner_optimizer.h"
#include "trainer/core/inner_tensors.h"
#include "trainer/core/trainer.h"
#include "trainer/core/training_options.h"

namespace skerry::trainer {

// The data set's files as views of borrowed bytes; data/manifest.h lists them.
struct TrainingData {
  std::vector<data::TokenShard> training;
  // May be empty, or shorter than a sample; then Evaluate is refused.
  std::vector<data::TokenShard> validation;
  std::string tokenizer;
  // Without one no text is generated, unless `tokenizer` is `bytes`.
  std::unique_ptr<data::TextCodec> codec = nullptr;
  int vocab_size = 0;
  // Called with bytes of shards that a later step reads. May be empty.
  std::function<void(std::span<const std::byte>)> will_read = nullptr;
};

// A step's gradient is the mean over the samples of the whole replica batch,
// however they are split over trainers and micro-batches. The learning rate
// follows the largest position drawn so far, so that it never goes back.
class LanguageModelTrainer final : public Trainer {
 public:
  // `executor`, the bytes behind `data` and `gemm` (of fp32; null: the engine's
  // choice) outlive the trainer. Errors: InvalidArgument with one line that
  // names what is wrong in options or data; ResourceExhausted when memory is
  // short.
  static absl::StatusOr<std::unique_ptr<LanguageModelTrainer>> Create(
      const TrainingOptions& options, TrainingData data,
      ParallelExecutor& executor,
      const model::cpu::GemmBackend* gemm = nullptr);

  const Description& description() const override { return description_; }
  absl::StatusOr<RunResult> Run(const RunRequest& request,
                                StopRequested stop) override;
  absl::Status Snapshot(std::span<const ElementRange> ranges,
                        std::span<float> state) override;
  absl::Status Load(std::span<const ElementRange> ranges,
                    std::span<const RankRange> owners,
                    std::span<const float> state) override;
  absl::Status JoinGroup(Collective* island) override;
  absl::StatusOr<uint64_t> SaveInner(const InnerLabel& label,
                                     InnerFile& file) override;
  absl::StatusOr<InnerProgress> LoadInner(uint64_t layout_hash,
                                          InnerFile& file) override;
  absl::StatusOr<EvaluateResult> Evaluate(uint64_t samples_max,
                                          StopRequested stop) override;
  absl::StatusOr<std::string> Generate(const GenerateRequest& request,
                                       StopRequested stop) override;

 private:
  LanguageModelTrainer(
      const TrainingOptions& options,
      std::unique_ptr<model::LanguageModel> model, data::SampleSource training,
      std::optional<data::SampleSource> validation, std::string tokenizer,
      std::unique_ptr<data::TextCodec> codec,
      std::function<void(std::span<const std::byte>)> will_read,
      const model::cpu::GemmBackend& gemm, ParallelExecutor& executor);

  int rank() const { return island_ == nullptr ? 0 : island_->rank(); }
  int size() const { return island_ == nullptr ? 1 : island_->size(); }
  // Sums over the island.
  absl::Status Reduce(std::span<float> values);
  // Calls will_read_ with the bytes that this trainer will read for the step at
  // these positions.
  void WillRead(std::span<const uint64_t> positions) const;
  // Takes one inner step and adds it to `result`.
  absl::Status Step(std::span<const uint64_t> positions, StopRequested stop,
                    RunResult& result);
  // Fills the gradients with this trainer's share of the step's mean, and
  // returns its share of the mean loss.
  absl::StatusOr<double> Gradients(std::span<const uint64_t> positions,
                                   StopRequested stop);
  float NextLearningRate(std::span<const uint64_t> positions);
  // Gives all members the optimizer's state of the member that has taken most
  // steps, and the largest position that any has drawn.
  absl::Status ShareProgress();

  const TrainingOptions options_;
  const std::unique_ptr<model::LanguageModel> model_;
  const data::SampleSource training_;
  const std::optional<data::SampleSource> validation_;
  const std::string tokenizer_;
  const std::unique_ptr<data::TextCodec> codec_;
  const std::function<void(std::span<const std::byte>)> will_read_;
  const model::cpu::GemmBackend& gemm_;
  ParallelExecutor& executor_;
  const GemmProducts products_;
  const std::unique_ptr<optimizer::InnerOptimizer> optimizer_;
  Description description_;
  Collective* island_ = nullptr;
  // One past the largest position drawn.
  uint64_t progress_ = 0;
  // Tokens of one micro-batch.
  std::vector<int32_t> inputs_;
  std::vector<int32_t> targets_;
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_LANGUAGE_MODEL_TRAINER_H_
