#include "trainer/core/language_model_trainer.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/executor.h"
#include "data/byte_tokenizer.h"
#include "data/sample_source.h"
#include "data/token_shard.h"
#include "gmock/gmock.h"
#include "model/cpu/gemm.h"
#include "trainer/service/posix_inner_file.h"
#include "trainer/testing/in_process_trainer.h"
#include "trainer/testing/trainer_conformance.h"
#include "transport/memory/memory_group.h"
#include "transport/testing/group_runner.h"

namespace skerry::trainer {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Trainer> MakeSmall() {
  return MakeInProcessTrainer(SmallTrainingOptions()).value();
}

std::unique_ptr<Trainer> MakeSmallLlama() {
  return MakeInProcessTrainer(SmallLlamaOptions()).value();
}

std::unique_ptr<Trainer> MakeSmallWithDropout() {
  return MakeInProcessTrainer(SmallDropoutOptions()).value();
}

INSTANTIATE_TEST_SUITE_P(LanguageModel, TrainerConformance,
                         ::testing::Values(MakeSmall, MakeSmallLlama,
                                           MakeSmallWithDropout));

class FamilyTest
    : public ::testing::TestWithParam<std::unique_ptr<Trainer> (*)()> {};

INSTANTIATE_TEST_SUITE_P(Families, FamilyTest,
                         ::testing::Values(MakeSmall, MakeSmallLlama));

TEST_P(FamilyTest, LossFallsFarBelowThatOfGuessing) {
  const std::unique_ptr<Trainer> trainer = GetParam()();
  const auto before = trainer->Evaluate(0, NeverStop);
  ASSERT_TRUE(before.ok());
  // Guessing one of 256 bytes costs ln 256 nats.
  EXPECT_NEAR(before->loss, std::log(256.0), 0.1);
  const auto run = trainer->Run(Samples(0, 50 * 16, 16), NeverStop);
  ASSERT_TRUE(run.ok()) << run.status();
  const auto after = trainer->Evaluate(0, NeverStop);
  ASSERT_TRUE(after.ok());
  EXPECT_LT(after->loss, before->loss - 2.5);
}

TEST(LanguageModelTrainerTest, RecomputedBlocksGiveTheSameBits) {
  for (TrainingOptions options :
       {SmallTrainingOptions(), SmallLlamaOptions(), SmallDropoutOptions()}) {
    for (const Compute compute : {Compute::kFp32, Compute::kBf16}) {
      options.compute = compute;
      options.recompute = model::Recompute::kNothing;
      const auto kept = MakeInProcessTrainer(options).value();
      options.recompute = model::Recompute::kBlocks;
      const auto again = MakeInProcessTrainer(options).value();
      ASSERT_TRUE(kept->Run(Samples(0, 64, 16), NeverStop).ok());
      ASSERT_TRUE(again->Run(Samples(0, 64, 16), NeverStop).ok());
      EXPECT_EQ(StateOf(*kept), StateOf(*again));
    }
  }
}

TEST(LanguageModelTrainerTest, Bf16IsTakenWhereTheProcessorHasIt) {
  TrainingOptions options = SmallTrainingOptions();
  const auto fp32 = MakeInProcessTrainer(options).value();
  options.compute = Compute::kBf16;
  const auto bf16 = MakeInProcessTrainer(options).value();
  EXPECT_EQ(fp32->description().initial_hash, bf16->description().initial_hash);
  const auto precise = fp32->Run(Samples(0, 64, 16), NeverStop);
  const auto rough = bf16->Run(Samples(0, 64, 16), NeverStop);
  ASSERT_TRUE(precise.ok() && rough.ok());
  EXPECT_NEAR(rough->loss, precise->loss, 1e-2);
  EXPECT_EQ(StateOf(*fp32) != StateOf(*bf16),
            model::cpu::Bf16Gemm() != nullptr);
}

struct Recipe {
  optimizer::Algorithm algorithm;
  float learning_rate;
  float momentum;
};
class EachOptimizer : public testing::TestWithParam<Recipe> {
 protected:
  static TrainingOptions Options() {
    TrainingOptions options = SmallTrainingOptions();
    options.inner.algorithm = GetParam().algorithm;
    options.inner.momentum = GetParam().momentum;
    options.learning_rate = GetParam().learning_rate;
    return options;
  }
};

TEST_P(EachOptimizer, LearnsTheText) {
  const auto trainer = MakeInProcessTrainer(Options()).value();
  ASSERT_TRUE(trainer->Run(Samples(0, 50 * 16, 16), NeverStop).ok());
  // That of the untrained model is ln 256 = 5.55.
  EXPECT_LT(trainer->Evaluate(0, NeverStop)->loss, 3.4);
}

// One member restarts; the other has trained, further on than where they go on
// together. If each kept its own moments, or its own rate, their parameters
// would part at the next step.
TEST_P(EachOptimizer, RestartedMemberTakesTheOthersState) {
  std::vector<std::unique_ptr<Trainer>> trainers(2);
  trainers[0] = MakeInProcessTrainer(Options()).value();
  trainers[1] = MakeInProcessTrainer(Options()).value();
  ASSERT_TRUE(trainers[1]->Run(Samples(400, 464, 8), NeverStop).ok());
  const std::vector<float> anchor = StateOf(*trainers[1]);
  const ElementRange all[] = {{0, anchor.size()}};
  ASSERT_TRUE(trainers[0]->Load(all, {}, anchor).ok());
  auto members = transport::MakeMemoryGroup(2, absl::Seconds(60));
  transport::RunMembers(members, [&](transport::Group& group) {
    Trainer& trainer = *trainers[static_cast<size_t>(group.rank())];
    ASSERT_TRUE(trainer.JoinGroup(&group).ok());
    ASSERT_TRUE(trainer.Run(Samples(64, 96, 8), NeverStop).ok());
  });
  EXPECT_EQ(StateOf(*trainers[0]), StateOf(*trainers[1]));
}

// Both members have crashed and take what they had saved, of different age.
TEST_P(EachOptimizer, MembersTakeTheSavedStateWithMostSteps) {
  const std::string path =
      absl::StrCat(::testing::TempDir(), "/each-", getpid());
  PosixInnerFile older(path + ".older", [] {}), newer(path + ".newer", [] {});
  const auto one = MakeInProcessTrainer(Options()).value();
  const uint64_t layout = one->description().layout_hash;
  ASSERT_TRUE(one->Run(Samples(0, 32, 8), NeverStop).ok());
  ASSERT_TRUE(one->SaveInner({layout, 1}, older).ok());
  ASSERT_TRUE(one->Run(Samples(32, 64, 8), NeverStop).ok());
  ASSERT_TRUE(one->SaveInner({layout, 2}, newer).ok());
  const std::vector<float> anchor = StateOf(*one);
  const ElementRange all[] = {{0, anchor.size()}};
  std::vector<std::vector<float>> states(2);
  auto members = transport::MakeMemoryGroup(2, absl::Seconds(60));
  transport::RunMembers(members, [&](transport::Group& group) {
    const size_t rank = static_cast<size_t>(group.rank());
    const auto trainer = MakeInProcessTrainer(Options()).value();
    PosixInnerFile& file = rank == 0 ? older : newer;
    ASSERT_TRUE(trainer->LoadInner(layout, file).ok());
    ASSERT_TRUE(trainer->Load(all, {}, anchor).ok());
    ASSERT_TRUE(trainer->JoinGroup(&group).ok());
    ASSERT_TRUE(trainer->SaveInner({layout, 3}, file).ok());
    ASSERT_TRUE(trainer->Run(Samples(64, 96, 8), NeverStop).ok());
    states[rank] = StateOf(*trainer);
  });
  EXPECT_EQ(states[0], states[1]);
  const auto alone = MakeInProcessTrainer(Options()).value();
  const auto loaded = alone->LoadInner(layout, older);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->steps, 8u);
  EXPECT_EQ(remove(older.path().c_str()) + remove(newer.path().c_str()), 0);
}

TEST(LanguageModelTrainerTest, InnerStatesOfOtherOptimizersAreRefused) {
  TrainingOptions options = SmallTrainingOptions();
  const auto adamw = MakeInProcessTrainer(options).value();
  options.inner.algorithm = optimizer::Algorithm::kMuon;
  const auto muon = MakeInProcessTrainer(options).value();
  PosixInnerFile file(absl::StrCat(::testing::TempDir(), "/other-", getpid()),
                      [] {});
  const uint64_t layout = adamw->description().layout_hash;
  ASSERT_TRUE(adamw->SaveInner({layout, 1}, file).ok());
  const absl::Status refused = muon->LoadInner(layout, file).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("another optimizer"));
  EXPECT_EQ(remove(file.path().c_str()), 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, EachOptimizer,
    testing::Values(Recipe{optimizer::Algorithm::kAdamW, 1e-2f, 0},
                    Recipe{optimizer::Algorithm::kLamb, 5e-2f, 0},
                    Recipe{optimizer::Algorithm::kSgd, 0.5f, 0.9f},
                    Recipe{optimizer::Algorithm::kMuon, 1e-2f, 0.95f}));

// Every sample once, and those of several steps before the first is read.
TEST(LanguageModelTrainerTest, SamplesAreToldOfStepsBeforeTheyAreRead) {
  const std::string shard =
      data::EncodeTokenShard(data::EncodeBytes(MadeUpText(1, 20000))).value();
  const auto view =
      data::TokenShard::Parse(std::as_bytes(std::span(shard))).value();
  const TrainingOptions options = SmallTrainingOptions();
  const auto source =
      data::SampleSource::Create({view}, {.context_length = 32,
                                          .vocab_size = data::kByteVocabSize,
                                          .seed = options.data_seed})
          .value();
  std::vector<const std::byte*> told;
  TrainingData data{.training = {view},
                    .validation = {},
                    .tokenizer = std::string(data::kByteTokenizerName),
                    .vocab_size = data::kByteVocabSize,
                    .will_read = [&](std::span<const std::byte> bytes) {
                      told.push_back(bytes.data());
                    }};
  InlineExecutor executor;
  const auto trainer =
      LanguageModelTrainer::Create(options, std::move(data), executor).value();
  size_t at_first_step = 0;
  const auto stop = [&] {
    if (at_first_step == 0) at_first_step = told.size();
    return false;
  };
  ASSERT_TRUE(trainer->Run(Samples(16, 112, 16), stop).ok());
  EXPECT_EQ(at_first_step, 5u * 16u);
  std::vector<const std::byte*> expected;
  for (uint64_t position = 16; position < 112; ++position) {
    source.EveryRange(std::vector<uint64_t>{position},
                      [&](std::span<const std::byte> bytes) {
                        expected.push_back(bytes.data());
                      });
  }
  EXPECT_EQ(told, expected);
}

TEST(LanguageModelTrainerTest, MicroBatchesAddUpToTheBatch) {
  for (TrainingOptions whole :
       {SmallTrainingOptions(), SmallDropoutOptions()}) {
    whole.micro_batch_samples = 16;
    TrainingOptions parts = whole;
    parts.micro_batch_samples = 5;
    const auto a = MakeInProcessTrainer(whole).value();
    const auto b = MakeInProcessTrainer(parts).value();
    const auto run_a = a->Run(Samples(0, 16, 16), NeverStop);
    const auto run_b = b->Run(Samples(0, 16, 16), NeverStop);
    ASSERT_TRUE(run_a.ok() && run_b.ok());
    EXPECT_NEAR(run_a->loss, run_b->loss, 1e-5);
    EXPECT_NEAR(run_a->gradient_norm, run_b->gradient_norm, 1e-5);
  }
}

TEST(LanguageModelTrainerTest, DropoutIsReproducibleAndChangesTheLoss) {
  const auto loss = [](const TrainingOptions& options) {
    const auto trainer = MakeInProcessTrainer(options).value();
    return trainer->Run(Samples(0, 64, 8), NeverStop)->loss;
  };
  const double with = loss(SmallDropoutOptions());
  EXPECT_EQ(loss(SmallDropoutOptions()), with);
  EXPECT_GT(std::abs(loss(SmallTrainingOptions()) - with), 1e-3);
}

double RateAfter(Trainer& trainer, uint64_t begin) {
  return trainer.Run(Samples(begin, begin + 8, 8), NeverStop)->learning_rate;
}

TEST(LanguageModelTrainerTest, RateFollowsTheLargestPositionDrawn) {
  const TrainingOptions options = SmallTrainingOptions();
  const auto trainer = MakeInProcessTrainer(options).value();
  const double late = RateAfter(*trainer, 600);
  EXPECT_FLOAT_EQ(static_cast<float>(late),
                  optimizer::LearningRate(ScheduleOf(options), 608, 800));
  // A range that another replica gave back does not turn the clock back.
  EXPECT_EQ(RateAfter(*trainer, 100), late);
  EXPECT_LT(RateAfter(*trainer, 700), late);
}

TEST(LanguageModelTrainerTest, LossThatIsNotFiniteIsAnErrorWithoutAStep) {
  const auto trainer = MakeSmall();
  std::vector<float> state = StateOf(*trainer);
  state[7] = std::numeric_limits<float>::quiet_NaN();
  const ElementRange all[] = {{0, state.size()}};
  ASSERT_TRUE(trainer->Load(all, {}, state).ok());
  const auto run = trainer->Run(Samples(0, 64, 64), NeverStop);
  EXPECT_TRUE(absl::IsInternal(run.status()));
  EXPECT_THAT(std::string(run.status().message()), HasSubstr("not finite"));
  const std::vector<float> after = StateOf(*trainer);
  EXPECT_EQ(after[8], state[8]);
}

// A shard whose tokens repeat `text`.
std::string ShardOf(const std::string& text) {
  return data::EncodeTokenShard(data::EncodeBytes(text)).value();
}

absl::Status CreateWith(const TrainingOptions& options,
                        const std::string& shard, int vocab_size) {
  static InlineExecutor executor;
  TrainingData data{
      .training =
          {data::TokenShard::Parse(std::as_bytes(std::span(shard))).value()},
      .validation = {},
      .tokenizer = "bytes",
      .vocab_size = vocab_size};
  return LanguageModelTrainer::Create(options, std::move(data), executor)
      .status();
}

TEST(LanguageModelTrainerTest, WhatCannotBeTrainedIsRefusedInOneLine) {
  const std::string shard = ShardOf(MadeUpText(1, 1000));
  const TrainingOptions good = SmallTrainingOptions();
  EXPECT_TRUE(CreateWith(good, shard, 256).ok());
  EXPECT_THAT(std::string(CreateWith(good, shard, 257).message()),
              HasSubstr("257 different tokens"));
  EXPECT_THAT(std::string(CreateWith(good, ShardOf("short"), 256).message()),
              HasSubstr("needs 33"));
  TrainingOptions bad = good;
  bad.sequence_tokens = 33;
  EXPECT_THAT(std::string(CreateWith(bad, shard, 256).message()),
              HasSubstr("context ends at 32"));
  bad = good;
  bad.config_json = "{}";
  EXPECT_FALSE(CreateWith(bad, shard, 256).ok());
}

TEST(LanguageModelTrainerTest, AValidationSplitShorterThanASampleIsNone) {
  const std::string shard = ShardOf(MadeUpText(1, 1000));
  InlineExecutor executor;
  for (const size_t length : {size_t{1}, size_t{32}, size_t{33}}) {
    const std::string split = ShardOf(MadeUpText(1, 1000).substr(0, length));
    TrainingData data{
        .training =
            {data::TokenShard::Parse(std::as_bytes(std::span(shard))).value()},
        .validation =
            {data::TokenShard::Parse(std::as_bytes(std::span(split))).value()},
        .tokenizer = "bytes",
        .vocab_size = 256};
    const auto trainer = LanguageModelTrainer::Create(
        SmallTrainingOptions(), std::move(data), executor);
    ASSERT_TRUE(trainer.ok()) << trainer.status();
    EXPECT_EQ((*trainer)->description().validation_samples, length / 33);
  }
}

TEST(LanguageModelTrainerTest, TokenBeyondTheModelsVocabularyIsAnError) {
  TrainingOptions options = SmallTrainingOptions();
  options.config_json = absl::StrReplaceAll(
      options.config_json, {{"\"vocab_size\": 256", "\"vocab_size\": 100"}});
  const std::string shard = ShardOf(MadeUpText(1, 1000));
  InlineExecutor executor;
  TrainingData data{
      .training =
          {data::TokenShard::Parse(std::as_bytes(std::span(shard))).value()},
      .validation = {},
      .tokenizer = "bytes",
      .vocab_size = 100};
  const auto trainer =
      LanguageModelTrainer::Create(options, std::move(data), executor);
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  EXPECT_TRUE(
      absl::IsDataLoss((*trainer)->Run(Samples(0, 8, 8), NeverStop).status()));
  EXPECT_TRUE(
      absl::IsFailedPrecondition((*trainer)->Evaluate(0, NeverStop).status()));
}

}  // namespace
}  // namespace skerry::trainer
