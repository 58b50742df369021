#include "tests/sim/language_model.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "trainer/testing/in_process_trainer.h"

namespace skerry::sim {
namespace {

trainer::TrainingOptions Options() {
  trainer::TrainingOptions options;
  options.config_json = R"({
      "model_type": "gpt2", "vocab_size": 256, "n_positions": 8,
      "n_embd": 12, "n_layer": 1, "n_head": 2, "resid_pdrop": 0.0,
      "embd_pdrop": 0.0, "attn_pdrop": 0.0})";
  options.model_seed = 1;
  options.data_seed = 2;
  options.samples_total = 1;  // the rate does not depend on it
  options.micro_batch_samples = 4;
  options.inner.algorithm = optimizer::Algorithm::kSgd;
  options.inner.momentum = 0;
  options.schedule = optimizer::Curve::kConstant;
  options.warmup_fraction = 0;
  options.learning_rate = 0.5f;
  return options;
}

bool Never() { return false; }

class LanguageModel final : public SimModel {
 public:
  explicit LanguageModel(std::unique_ptr<trainer::Trainer> trainer)
      : trainer_(std::move(trainer)),
        all_{0, elements()},
        initial_(elements()) {
    SKERRY_CHECK(trainer_->Snapshot(All(), initial_).ok());
  }

  uint64_t elements() const override {
    return trainer_->description().element_count;
  }
  void Initialize(std::span<float> live) override {
    std::copy(initial_.begin(), initial_.end(), live.begin());
  }
  double Train(const data::RangeSet& ranges, uint64_t batch,
               std::span<float> live) override {
    const trainer::RunRequest request = {
        {ranges.ranges().begin(), ranges.ranges().end()}, batch};
    SKERRY_CHECK(trainer_->Load(All(), {}, live).ok());
    const auto result = trainer_->Run(request, Never);
    SKERRY_CHECK(result.ok());
    SKERRY_CHECK(trainer_->Snapshot(All(), live).ok());
    return result->loss;
  }
  double Evaluate(uint64_t samples_max, std::span<const float> live) override {
    SKERRY_CHECK(trainer_->Load(All(), {}, live).ok());
    const auto result = trainer_->Evaluate(samples_max, Never);
    SKERRY_CHECK(result.ok());
    return result->loss;
  }

 private:
  std::span<const ElementRange> All() const { return {&all_, 1}; }

  const std::unique_ptr<trainer::Trainer> trainer_;
  const ElementRange all_;
  std::vector<float> initial_;
};

}  // namespace

std::unique_ptr<SimModel> MakeLanguageModel() {
  auto trainer = trainer::MakeInProcessTrainer(Options());
  SKERRY_CHECK(trainer.ok());
  return std::make_unique<LanguageModel>(*std::move(trainer));
}

}  // namespace skerry::sim
