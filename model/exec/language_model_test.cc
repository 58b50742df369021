#include "model/exec/language_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "base/testing/golden_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/exec/thread_executor_testutil.h"
#include "optimizer/inner/adamw.h"

namespace skerry::model {
namespace {

using ::skerry::testing::RelativeError;
using ::testing::HasSubstr;

constexpr int kRows = 6;
constexpr int kColumns = 19;

ModelConfig SmallConfig() {
  ModelConfig config;
  config.vocab_size = 61;
  config.n_positions = 24;
  config.n_embd = 40;
  config.n_layer = 2;
  config.n_head = 4;
  return config;
}

std::unique_ptr<LanguageModel> MakeModel(ParallelExecutor& executor,
                                         int rows = kRows) {
  auto model =
      LanguageModel::Create(SmallConfig(), {.rows_max = rows}, executor);
  EXPECT_TRUE(model.ok()) << model.status();
  InitializeParameters((*model)->layout(), SmallConfig(), 3,
                       (*model)->parameters());
  // Larger weights than a fresh model's, so that attention is not flat.
  for (float& p : (*model)->parameters()) p *= 5;
  return *std::move(model);
}

std::vector<int32_t> RandomTokens(uint64_t seed,
                                  size_t count = kRows * kColumns) {
  Random random(seed);
  std::vector<int32_t> ids(count);
  for (int32_t& id : ids) id = static_cast<int32_t>(random.Below(61));
  return ids;
}

std::vector<float> Copy(std::span<const float> values) {
  return {values.begin(), values.end()};
}

TEST(LanguageModelTest, MicroBatchesAddUpToOneBatch) {
  InlineExecutor executor;
  auto model = MakeModel(executor);
  const auto inputs = RandomTokens(1);
  const auto targets = RandomTokens(2);
  const float loss =
      model->ForwardBackward({kRows, kColumns, inputs, targets}, 1);
  const std::vector<float> whole = Copy(model->gradients());
  model->ZeroGradients();
  float sum = 0;
  constexpr int kParts = 3;
  constexpr size_t kTokens = kRows / kParts * kColumns;
  for (size_t i = 0; i < kParts; ++i) {
    sum += model->ForwardBackward({kRows / kParts,
                                   kColumns,
                                   {&inputs[i * kTokens], kTokens},
                                   {&targets[i * kTokens], kTokens}},
                                  1.0f / kParts);
  }
  EXPECT_NEAR(sum / kParts, loss, 1e-5);
  EXPECT_LE(RelativeError(model->gradients().data(), whole.size(), whole),
            1e-5);
}

TEST(LanguageModelTest, ThreadsChangeRoundingAndNothingElse) {
  InlineExecutor one;
  auto expected = MakeModel(one);
  const auto inputs = RandomTokens(1);
  const auto targets = RandomTokens(2);
  const Batch batch{kRows, kColumns, inputs, targets};
  const float loss = expected->ForwardBackward(batch, 1);
  for (const int threads : {2, 3, 7}) {
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

TEST(LanguageModelTest, SameCallsGiveTheSameBitsWithAnyInterleaving) {
  ThreadExecutor executor(3);
  auto first = MakeModel(executor);
  auto second = MakeModel(executor);
  const auto inputs = RandomTokens(1);
  const auto targets = RandomTokens(2);
  const Batch batch{kRows, kColumns, inputs, targets};
  // What ran before leaves no trace.
  second->Loss({2, 5, {inputs.data(), 10}, {targets.data(), 10}});
  for (int i = 0; i < 3; ++i) {
    first->ZeroGradients();
    second->ZeroGradients();
    EXPECT_EQ(first->ForwardBackward(batch, 1),
              second->ForwardBackward(batch, 1));
    EXPECT_EQ(Copy(first->gradients()), Copy(second->gradients()));
  }
}

TEST(LanguageModelTest, RecomputedBlocksGiveTheSameBits) {
  for (const int layers : {1, 2, 5}) {
    ModelConfig config = SmallConfig();
    config.n_layer = layers;
    std::vector<std::vector<float>> gradients;
    std::vector<float> losses;
    for (const Recompute recompute :
         {Recompute::kNothing, Recompute::kBlocks}) {
      InlineExecutor executor;
      const auto model =
          LanguageModel::Create(
              config, {.rows_max = kRows, .recompute = recompute}, executor)
              .value();
      InitializeParameters(model->layout(), config, 3, model->parameters());
      for (float& p : model->parameters()) p *= 5;
      const std::vector<int32_t> ids = RandomTokens(1);
      losses.push_back(model->ForwardBackward({kRows, kColumns, ids, ids}, 1));
      losses.push_back(model->Loss({kRows, kColumns, ids, ids}));
      gradients.emplace_back(model->gradients().begin(),
                             model->gradients().end());
    }
    EXPECT_EQ(gradients[0], gradients[1]) << layers;
    EXPECT_EQ(losses[0], losses[2]) << layers;
    EXPECT_EQ(losses[1], losses[3]) << layers;
  }
}

TEST(LanguageModelTest, ATokenDoesNotSeeLaterOnes) {
  InlineExecutor executor;
  auto model = MakeModel(executor);
  auto inputs = RandomTokens(1, kColumns);
  std::vector<float> before(kColumns * 61), after(before.size());
  model->Logits(inputs, 1, kColumns, before);
  constexpr int kChanged = 17;
  inputs[kChanged] = (inputs[kChanged] + 1) % 61;
  model->Logits(inputs, 1, kColumns, after);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + kChanged * 61,
                         after.begin()));
  EXPECT_FALSE(std::equal(before.begin() + kChanged * 61, before.end(),
                          after.begin() + kChanged * 61));
}

TEST(LanguageModelTest, SequencesOfABatchDoNotSeeOneAnother) {
  InlineExecutor executor;
  auto model = MakeModel(executor);
  const auto inputs = RandomTokens(1);
  std::vector<float> together(inputs.size() * 61), alone(kColumns * 61);
  model->Logits(inputs, kRows, kColumns, together);
  for (int r = 0; r < kRows; ++r) {
    model->Logits({&inputs[r * kColumns], kColumns}, 1, kColumns, alone);
    const std::vector<float> part(together.begin() + r * kColumns * 61,
                                  together.begin() + (r + 1) * kColumns * 61);
    EXPECT_LE(RelativeError(alone.data(), alone.size(), part), 1e-5) << r;
  }
}

TEST(LanguageModelTest, StepsDownTheGradientLowerTheLoss) {
  InlineExecutor executor;
  auto model = MakeModel(executor);
  const auto inputs = RandomTokens(1);
  const Batch batch{kRows, kColumns, inputs, inputs};
  const std::vector<optimizer::Tensor> whole = {
      {{0, model->parameters().size()}}};
  optimizer::AdamW adamw({}, whole);
  const float before = model->Loss(batch);
  for (int i = 0; i < 20; ++i) {
    model->ZeroGradients();
    model->ForwardBackward(batch, 1);
    adamw.Step(model->parameters(), model->gradients(), 0.01f, 1, executor);
  }
  EXPECT_LT(model->Loss(batch), 0.5f * before);
}

TEST(LanguageModelTest, NanInAParameterShowsInTheLoss) {
  InlineExecutor executor;
  const auto inputs = RandomTokens(1);
  const Batch batch{kRows, kColumns, inputs, inputs};
  auto model = MakeModel(executor);
  for (size_t i = 0; i < model->layout().tensors().size(); ++i) {
    // Tables hold rows that no token of the batch may use.
    if (model->layout().tensors()[i].name.starts_with("transformer.w"))
      continue;
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

TEST(LanguageModelTest, BatchesThatDoNotFitAreRefusedWithTheReason) {
  InlineExecutor executor;
  auto model = MakeModel(executor);
  auto ids = RandomTokens(1);
  const auto error = [&](const Batch& batch) {
    return std::string(model->ValidateBatch(batch).message());
  };
  EXPECT_EQ(error({kRows, kColumns, ids, ids}), "");
  EXPECT_THAT(error({kRows + 1, kColumns, ids, ids}), HasSubstr("7 x 19"));
  EXPECT_THAT(error({1, 25, ids, ids}), HasSubstr("1 x 25"));
  EXPECT_THAT(error({0, 0, {}, {}}), HasSubstr("0 x 0"));
  EXPECT_THAT(error({1, kColumns, ids, ids}), HasSubstr("114 inputs"));
  auto bad = ids;
  bad[5] = 61;
  EXPECT_THAT(error({kRows, kColumns, bad, ids}),
              HasSubstr("inputs[5] is token 61"));
  bad[5] = -1;
  EXPECT_THAT(error({kRows, kColumns, ids, bad}),
              HasSubstr("targets[5] is token -1"));
}

TEST(LanguageModelTest, OptionsOutOfRangeAreRefused) {
  InlineExecutor executor;
  const auto create = [&](const LanguageModel::Options& options) {
    return LanguageModel::Create(SmallConfig(), options, executor).status();
  };
  EXPECT_TRUE(create({}).ok());
  EXPECT_FALSE(create({.rows_max = 0}).ok());
  EXPECT_FALSE(create({.columns_max = 25}).ok());
  EXPECT_FALSE(create({.rows_max = std::numeric_limits<int>::max()}).ok());
  ModelConfig wrong = SmallConfig();
  wrong.n_head = 7;
  EXPECT_FALSE(LanguageModel::Create(wrong, {}, executor).ok());
}

}  // namespace
}  // namespace skerry::model
