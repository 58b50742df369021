// A hundred steps of training beside those of PyTorch: tools/gen/
// training_curve.py has the same tokens, samples, first parameters and options.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "base/testing/golden_file.h"
#include "data/token_shard.h"
#include "gtest/gtest.h"
#include "model/cpu/gemm.h"
#include "model/spec/model_config.h"
#include "model/spec/model_graph.h"
#include "trainer/core/language_model_trainer.h"

namespace skerry::trainer {
namespace {

constexpr int kSteps = 100;
constexpr uint64_t kBatch = 5;
constexpr int kVocabulary = 61;
constexpr size_t kTokens = 4007;
constexpr uint64_t kTokenSeed = 17;
constexpr uint64_t kParameterSeed = 23;
constexpr double kLossTolerance = 1e-3;
constexpr double kBf16LossTolerance = 5e-3;

bool NeverStop() { return false; }

// The other script's made_up_tokens().
std::vector<uint16_t> MadeUpTokens() {
  std::vector<uint16_t> tokens = {1};
  while (tokens.size() < kTokens) {
    const uint64_t draw = RandomAt(kTokenSeed, tokens.size());
    const int likely = (7 * tokens.back() + 5) % kVocabulary;
    tokens.push_back(
        static_cast<uint16_t>(draw % 8 == 0 ? draw / 8 % kVocabulary : likely));
  }
  return tokens;
}

uint64_t NameKey(std::string_view name) {
  uint64_t key = 0xcbf29ce484222325;
  for (const char c : name) {
    key = (key ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  return key;
}

bool IsNorm(std::string_view name) {
  for (const std::string_view end :
       {"norm.weight", "ln_1.weight", "ln_2.weight", "ln_f.weight"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

std::vector<float> FirstParameters(const std::string& config_json) {
  const model::ModelConfig config =
      model::ParseModelConfig(config_json).value();
  const model::ParameterLayout layout = model::BuildGraph(config).layout;
  std::vector<float> parameters(static_cast<size_t>(layout.element_count()));
  for (const model::ParameterTensor& tensor : layout.tensors()) {
    const uint64_t key = kParameterSeed ^ NameKey(tensor.name);
    const double centre = IsNorm(tensor.name) ? 1 : 0;
    for (int64_t i = 0; i < tensor.elements; ++i) {
      const uint64_t draw = RandomAt(key, static_cast<uint64_t>(i)) >> 11;
      const double uniform = static_cast<double>(draw) * 0x1.0p-53;
      parameters[static_cast<size_t>(tensor.offset + i)] =
          static_cast<float>(centre + 0.16 * (uniform - 0.5));
    }
  }
  return parameters;
}

TrainingOptions OptionsOf(const std::string& name) {
  TrainingOptions options;
  options.config_json = skerry::testing::ReadTextFile(
      "trainer/core/testdata/curve_" + name + ".json");
  options.data_seed = 5;
  options.sequence_tokens = 21;
  options.samples_total = kSteps * kBatch;
  // Two micro-batches of two and one of one.
  options.micro_batch_samples = 2;
  options.inner.adamw = {
      .beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f};
  options.learning_rate = 1e-2f;
  options.warmup_fraction = 0.1;
  options.min_learning_rate_ratio = 0.1f;
  options.clip_norm = 0.7;
  return options;
}

std::vector<RunResult> Train(const TrainingOptions& options) {
  const std::vector<uint16_t> tokens = MadeUpTokens();
  const std::string shard = data::EncodeTokenShard(tokens).value();
  TrainingData data{
      .training =
          {data::TokenShard::Parse(std::as_bytes(std::span(shard))).value()},
      .validation = {},
      .tokenizer = "unknown",
      .vocab_size = kVocabulary};
  InlineExecutor executor;
  const auto trainer =
      LanguageModelTrainer::Create(options, std::move(data), executor).value();
  const std::vector<float> first = FirstParameters(options.config_json);
  const ElementRange all[] = {{0, first.size()}};
  EXPECT_TRUE(trainer->Load(all, {}, first).ok());
  std::vector<RunResult> results;
  for (uint64_t step = 0; step < kSteps; ++step) {
    const auto run =
        trainer->Run({.ranges = {{step * kBatch, (step + 1) * kBatch}},
                      .replica_batch_samples = kBatch},
                     NeverStop);
    EXPECT_TRUE(run.ok()) << run.status();
    if (!run.ok()) break;
    results.push_back(*run);
  }
  return results;
}

class TrainingCurveTest : public ::testing::TestWithParam<const char*> {
 protected:
  TrainingCurveTest()
      : golden_(skerry::testing::ReadGoldenFile(
            std::string("trainer/core/testdata/curve_") + GetParam() +
            ".golden")) {}
  // How far the losses are from PyTorch's, at the worst step.
  double LossError(const TrainingOptions& options) {
    const std::vector<RunResult> results = Train(options);
    const std::vector<float>& losses = golden_.floats.at("losses");
    EXPECT_EQ(results.size(), losses.size());
    double worst = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      worst = std::max(
          worst, std::abs(results[i].loss - static_cast<double>(losses[i])));
    }
    return worst;
  }
  const skerry::testing::GoldenFile golden_;
};

TEST_P(TrainingCurveTest, EveryStepHasTheLossOfPyTorch) {
  const std::vector<RunResult> results = Train(OptionsOf(GetParam()));
  const auto& losses = golden_.floats.at("losses");
  const auto& norms = golden_.floats.at("norms");
  const auto& rates = golden_.floats.at("rates");
  ASSERT_EQ(results.size(), losses.size());
  double worst = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const double error =
        std::abs(results[i].loss - static_cast<double>(losses[i]));
    worst = std::max(worst, error);
    EXPECT_LE(error, kLossTolerance) << "step " << i;
    EXPECT_NEAR(results[i].gradient_norm, static_cast<double>(norms[i]), 5e-3)
        << "step " << i;
    EXPECT_NEAR(results[i].learning_rate, static_cast<double>(rates[i]), 1e-8)
        << "step " << i;
  }
  // It learns, so the curve is no flat line that anything would follow.
  EXPECT_LT(results.back().loss, results.front().loss - 0.7);
  std::cout << GetParam() << ": off by " << worst << " at most\n";
}

// The products of this run round to the nearest of 256 numbers between a power
// of two and the next.
TEST_P(TrainingCurveTest, Bf16StaysCloseOverAHundredSteps) {
  if (model::cpu::Bf16Gemm() == nullptr) {
    GTEST_SKIP() << "no bf16 on this processor";
  }
  TrainingOptions options = OptionsOf(GetParam());
  options.compute = Compute::kBf16;
  const double error = LossError(options);
  EXPECT_LE(error, kBf16LossTolerance);
  EXPECT_GT(error, kBf16LossTolerance / 100);
  std::cout << GetParam() << ": off by " << error << " at most in bf16\n";
}

TEST_P(TrainingCurveTest, AWrongHyperParameterIsSeen) {
  const auto error_with = [&](auto change) {
    TrainingOptions options = OptionsOf(GetParam());
    change(options);
    return LossError(options);
  };
  using Options = TrainingOptions;
  EXPECT_GT(error_with([](Options& o) { o.inner.adamw.beta1 = 0.91f; }),
            kLossTolerance);
  EXPECT_GT(error_with([](Options& o) { o.inner.adamw.beta2 = 0.96f; }),
            kLossTolerance);
  EXPECT_GT(error_with([](Options& o) { o.inner.adamw.epsilon = 1e-5f; }),
            kLossTolerance);
  EXPECT_GT(error_with([](Options& o) { o.inner.adamw.weight_decay = 0.09f; }),
            kLossTolerance);
  EXPECT_GT(error_with([](Options& o) { o.learning_rate = 1.03e-2f; }),
            kLossTolerance);
  EXPECT_GT(error_with([](Options& o) { o.warmup_fraction = 0.12; }),
            kLossTolerance);
  EXPECT_GT(error_with([](Options& o) { o.min_learning_rate_ratio = 0; }),
            kLossTolerance);
  EXPECT_GT(error_with([](Options& o) { o.clip_norm = 0.8; }), kLossTolerance);
  EXPECT_GT(error_with([](Options& o) { o.data_seed = 6; }), kLossTolerance);
}

INSTANTIATE_TEST_SUITE_P(Families, TrainingCurveTest,
                         ::testing::Values("gpt2", "llama"));

}  // namespace
}  // namespace skerry::trainer
