// What the summary says against what making and training the model takes of
// this process's memory.
#include "model/exec/model_summary.h"

#include <malloc.h>

#include <string>
#include <tuple>
#include <vector>

#include "base/executor.h"
#include "gtest/gtest.h"
#include "model/exec/language_model.h"
#include "optimizer/inner/adamw.h"

namespace skerry::model {
namespace {

constexpr int kRows = 4;
constexpr int kColumns = 120;

ModelConfig ConfigOf(const std::string& type) {
  ModelConfig config;
  config.model_type = type;
  config.vocab_size = 3001;
  config.n_positions = 130;
  config.n_embd = 192;
  config.n_layer = 6;
  config.n_head = 6;
  if (type == "llama") {
    config.n_kv_head = 2;
    config.n_inner = 501;
    config.tie_word_embeddings = false;
  }
  return config;
}

// What the process has allocated and not given back. Resident pages would
// count what an earlier test gave back to the allocator as well.
int64_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

// Trains one step, and returns the parameters and what memory the process has
// more than before.
std::pair<int64_t, int64_t> Measure(const ModelConfig& config, int columns,
                                    Recompute recompute) {
  const int64_t before = AllocatedBytes();
  InlineExecutor executor;
  auto model = LanguageModel::Create(
      config,
      {.rows_max = kRows, .columns_max = columns, .recompute = recompute},
      executor);
  EXPECT_TRUE(model.ok()) << model.status();
  const std::vector<optimizer::Tensor> whole = {
      {{0, (*model)->parameters().size()}}};
  optimizer::AdamW adamw({}, whole);
  const std::vector<int32_t> ids(kRows * columns, 7);
  (*model)->ForwardBackward({kRows, columns, ids, ids}, 1);
  adamw.Step((*model)->parameters(), (*model)->gradients(), 0.01f, 1, executor);
  return {static_cast<int64_t>((*model)->parameters().size()),
          AllocatedBytes() - before};
}

class ModelSummaryMemoryTest
    : public ::testing::TestWithParam<std::tuple<const char*, Recompute>> {};

TEST_P(ModelSummaryMemoryTest, TellsWhatTrainingMeasures) {
  const auto [type, recompute] = GetParam();
  const ModelConfig config = ConfigOf(type);
  // What the GEMM library keeps for itself comes with the first products.
  Measure(config, 8, recompute);
  const auto [parameters, bytes] = Measure(config, kColumns, recompute);
  const ModelSummary summary =
      SummarizeModel(config, kRows, kColumns, 1, recompute);
  EXPECT_EQ(summary.parameters, parameters);
  const double ratio =
      static_cast<double>(summary.total_bytes()) / static_cast<double>(bytes);
  EXPECT_GT(ratio, 0.9) << summary.total_bytes() << " " << bytes;
  EXPECT_LT(ratio, 1.1) << summary.total_bytes() << " " << bytes;
  RecordProperty("told_bytes", std::to_string(summary.total_bytes()));
  RecordProperty("measured_bytes", std::to_string(bytes));
}

INSTANTIATE_TEST_SUITE_P(
    Families, ModelSummaryMemoryTest,
    ::testing::Combine(::testing::Values("gpt2", "llama"),
                       ::testing::Values(Recompute::kNothing,
                                         Recompute::kBlocks)));

TEST(ModelSummaryTest, RecomputingTradesMemoryForLessThanAForwardPass) {
  const ModelSummary kept = SummarizeModel(ModelConfig(), 8, 1024, 1);
  const ModelSummary again =
      SummarizeModel(ModelConfig(), 8, 1024, 1, Recompute::kBlocks);
  EXPECT_LT(again.activation_bytes, kept.activation_bytes / 5);
  EXPECT_EQ(kept.recompute_flops, 0);
  EXPECT_GT(again.recompute_flops, 0.3 * kept.work.forward_flops);
  EXPECT_LT(again.recompute_flops, 0.7 * kept.work.forward_flops);
}

TEST(ModelSummaryTest, PublishedModelsHaveTheirPublishedSizes) {
  const ModelSummary summary = SummarizeModel(ModelConfig(), 1, 1024, 1);
  EXPECT_EQ(summary.parameters, 124439808);
  EXPECT_EQ(summary.optimizer_bytes, 2 * summary.parameter_bytes);
  EXPECT_GT(summary.activation_bytes, 0);
  EXPECT_GT(summary.work.backward_flops, summary.work.forward_flops);
}

}  // namespace
}  // namespace skerry::model
