// What a Llama model promises beyond GPT-2's numbers: groups, rotary tables
// and biasless operators under several threads and lengths.
#include <cmath>
#include <limits>
#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "base/testing/golden_file.h"
#include "gtest/gtest.h"
#include "model/exec/language_model.h"
#include "model/exec/thread_executor_testutil.h"
#include "optimizer/inner/adamw.h"

namespace skerry::model {
namespace {

using ::skerry::testing::RelativeError;

constexpr int kRows = 3;
constexpr int kVocab = 61;
constexpr int kContext = 16;
constexpr int kColumnsMax = 32;

ModelConfig SmallConfig() {
  ModelConfig config;
  config.model_type = "llama";
  config.vocab_size = kVocab;
  config.n_positions = kContext;
  config.n_embd = 30;
  config.n_layer = 2;
  config.n_head = 6;
  config.n_kv_head = 2;
  config.head_dim = 10;
  config.n_inner = 43;
  config.tie_word_embeddings = false;
  config.rotary.scaling = RotaryScaling::kDynamic;
  config.rotary.factor = 2;
  config.rotary.original_positions = kContext;
  return config;
}

std::unique_ptr<LanguageModel> MakeModel(ParallelExecutor& executor) {
  const ModelConfig config = SmallConfig();
  auto model = LanguageModel::Create(
      config, {.rows_max = kRows, .columns_max = kColumnsMax}, executor);
  EXPECT_TRUE(model.ok()) << model.status();
  InitializeParameters((*model)->layout(), config, 3, (*model)->parameters());
  // Larger weights than a fresh model's, so that attention is not flat.
  for (float& p : (*model)->parameters()) p *= 5;
  return *std::move(model);
}

std::vector<int32_t> RandomTokens(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<int32_t> ids(count);
  for (int32_t& id : ids) id = static_cast<int32_t>(random.Below(kVocab));
  return ids;
}

std::vector<float> Copy(std::span<const float> values) {
  return {values.begin(), values.end()};
}

TEST(LlamaModelTest, ThreadsChangeRoundingAndNothingElse) {
  constexpr int kColumns = 29;
  const auto inputs = RandomTokens(1, kRows * kColumns);
  const auto targets = RandomTokens(2, kRows * kColumns);
  const Batch batch{kRows, kColumns, inputs, targets};
  InlineExecutor one;
  auto expected = MakeModel(one);
  const float loss = expected->ForwardBackward(batch, 1);
  for (const int threads : {2, 5}) {
    ThreadExecutor several(threads);
    auto model = MakeModel(several);
    EXPECT_NEAR(model->ForwardBackward(batch, 1), loss, 1e-5) << threads;
    EXPECT_LE(
        RelativeError(model->gradients().data(), model->gradients().size(),
                      Copy(expected->gradients())),
        1e-5)
        << threads;
  }
}

TEST(LlamaModelTest, WhatRanBeforeLeavesNoTrace) {
  InlineExecutor executor;
  auto used = MakeModel(executor);
  // Beyond the context, where the frequencies are others, and back.
  for (const int columns : {5, 32, 20, 16, 31}) {
    auto fresh = MakeModel(executor);
    const auto ids = RandomTokens(columns, columns);
    used->ZeroGradients();
    EXPECT_EQ(used->ForwardBackward({1, columns, ids, ids}, 1),
              fresh->ForwardBackward({1, columns, ids, ids}, 1));
    EXPECT_EQ(Copy(used->gradients()), Copy(fresh->gradients()));
  }
}

TEST(LlamaModelTest, ATokenDoesNotSeeLaterOnes) {
  constexpr int kColumns = 19;
  InlineExecutor executor;
  auto model = MakeModel(executor);
  auto inputs = RandomTokens(1, kColumns);
  std::vector<float> before(kColumns * kVocab), after(before.size());
  model->Logits(inputs, 1, kColumns, before);
  constexpr int kChanged = 17;
  inputs[kChanged] = (inputs[kChanged] + 1) % kVocab;
  model->Logits(inputs, 1, kColumns, after);
  const auto border = before.begin() + kChanged * kVocab;
  EXPECT_TRUE(std::equal(before.begin(), border, after.begin()));
  EXPECT_FALSE(
      std::equal(border, before.end(), after.begin() + kChanged * kVocab));
}

TEST(LlamaModelTest, OnlyDynamicScalingTakesMoreThanTheContext) {
  InlineExecutor executor;
  ModelConfig config = SmallConfig();
  const auto create = [&](int columns) {
    return LanguageModel::Create(config, {.columns_max = columns}, executor)
        .status();
  };
  EXPECT_TRUE(create(kColumnsMax).ok());
  EXPECT_FALSE(create(kColumnsMax + 1).ok());
  config.rotary.scaling = RotaryScaling::kLinear;
  EXPECT_FALSE(create(kContext + 1).ok());
}

TEST(LlamaModelTest, NanInAParameterShowsInTheLoss) {
  constexpr int kColumns = 12;
  InlineExecutor executor;
  const auto inputs = RandomTokens(1, kColumns);
  const Batch batch{1, kColumns, inputs, inputs};
  auto model = MakeModel(executor);
  for (size_t i = 1; i < model->layout().tensors().size(); ++i) {
    float& element =
        model->layout().Slice(model->parameters(), static_cast<int>(i))[0];
    const float kept = element;
    element = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(model->Loss(batch)))
        << model->layout().tensors()[i].name;
    element = kept;
  }
  EXPECT_FALSE(std::isnan(model->Loss(batch)));
}

TEST(LlamaModelTest, StepsDownTheGradientLowerTheLoss) {
  constexpr int kColumns = 16;
  InlineExecutor executor;
  auto model = MakeModel(executor);
  const auto inputs = RandomTokens(1, kRows * kColumns);
  const Batch batch{kRows, kColumns, inputs, inputs};
  const std::vector<optimizer::Tensor> whole = {
      {{0, model->parameters().size()}}};
  optimizer::AdamW adamw({}, whole);
  const float before = model->Loss(batch);
  for (int i = 0; i < 30; ++i) {
    model->ZeroGradients();
    model->ForwardBackward(batch, 1);
    adamw.Step(model->parameters(), model->gradients(), 0.01f, 1, executor);
  }
  EXPECT_LT(model->Loss(batch), 0.5f * before);
}

}  // namespace
}  // namespace skerry::model
