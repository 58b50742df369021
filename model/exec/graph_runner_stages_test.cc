// Stages that run one after another give the bits of the whole graph.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "model/cpu/gemm.h"
#include "model/exec/graph_runner_testutil.h"
#include "model/exec/initialize_parameters.h"
#include "model/exec/language_model.h"
#include "model/exec/stage_sequence_testutil.h"
#include "model/exec/thread_executor_testutil.h"
#include "model/spec/graph_cut.h"

namespace skerry::model {
namespace {

constexpr int kRows = 2;
constexpr int kColumns = 13;
constexpr int kMicroBatches = 2;
constexpr size_t kTokens = kRows * kColumns;
constexpr uint64_t kDropoutSeed = 77;
constexpr uint64_t kSamples[kMicroBatches * kRows] = {40, 9, 41, 3};

ModelConfig Gpt2(bool tied) {
  ModelConfig config;
  config.vocab_size = 53;
  config.n_positions = 17;
  config.n_embd = 21;
  config.n_layer = 3;
  config.n_head = 3;
  config.n_inner = 37;
  config.tie_word_embeddings = tied;
  config.scale_attn_by_inverse_layer_idx = tied;
  return config;
}

ModelConfig Llama(bool tied) {
  ModelConfig config = Gpt2(tied);
  config.model_type = "llama";
  config.scale_attn_by_inverse_layer_idx = false;
  config.n_embd = 18;
  config.n_kv_head = tied ? 1 : 3;
  config.n_inner = 29;
  config.attention_bias = tied;
  return config;
}

struct Result {
  std::vector<float> losses;
  std::vector<float> gradients;

  bool operator==(const Result&) const = default;
};

// A model, its parameters and what the whole of it computes.
class Case {
 public:
  Case(const ModelConfig& config, int threads,
       const cpu::GemmBackend& gemm = cpu::DefaultGemmBackend())
      : gemm_(gemm),
        executor_(threads),
        ids_(RandomIds(5, config.vocab_size, kMicroBatches * kTokens)),
        targets_(RandomIds(6, config.vocab_size, kMicroBatches * kTokens)),
        model_(LanguageModel::Create(config,
                                     {.rows_max = kRows,
                                      .columns_max = kColumns,
                                      .gemm = &gemm,
                                      .dropout_seed = kDropoutSeed},
                                     executor_)
                   .value()) {
    InitializeParameters(model_->layout(), config, 3, model_->parameters());
    // Larger weights than a fresh model's, so that attention is not flat.
    for (float& p : model_->parameters()) p *= 5;
    for (int i = 0; i < kMicroBatches; ++i) {
      whole_.losses.push_back(model_->ForwardBackward(BatchOf(i), kScale));
    }
    whole_.gradients.assign(model_->gradients().begin(),
                            model_->gradients().end());
  }

  const Graph& graph() const { return model_->graph(); }
  const Result& whole() const { return whole_; }

  Result RunCut(const std::vector<int>& cuts, Recompute recompute,
                Mistake mistake = Mistake::kNone) {
    StageSequence stages(graph(), cuts, kRows, kColumns, recompute,
                         model_->parameters(), kDropoutSeed, gemm_, executor_,
                         mistake);
    Result result;
    for (int i = 0; i < kMicroBatches; ++i) {
      result.losses.push_back(stages.ForwardBackward(BatchOf(i), kScale));
    }
    result.gradients = stages.Gradients();
    return result;
  }

 private:
  static constexpr float kScale = 1.0f / kMicroBatches;

  Batch BatchOf(int i) const {
    const size_t first = static_cast<size_t>(i) * kTokens;
    return {kRows,
            kColumns,
            {ids_.data() + first, kTokens},
            {targets_.data() + first, kTokens},
            {kSamples + i * kRows, kRows}};
  }

  const cpu::GemmBackend& gemm_;
  ThreadExecutor executor_;
  const std::vector<int32_t> ids_;
  const std::vector<int32_t> targets_;
  const std::unique_ptr<LanguageModel> model_;
  Result whole_;
};

std::vector<ModelConfig> Families() {
  ModelConfig dynamic = Llama(false);
  dynamic.rotary.scaling = RotaryScaling::kDynamic;
  dynamic.rotary.factor = 2;
  dynamic.rotary.original_positions = 7;
  ModelConfig dropping = Gpt2(true);
  dropping.embd_pdrop = 0.125;
  dropping.resid_pdrop = 0.25;
  dropping.attn_pdrop = 0.375;
  ModelConfig dropping_llama = Llama(true);
  dropping_llama.attn_pdrop = 0.25;
  return {Gpt2(true), Gpt2(false), Llama(true),   Llama(false),
          dynamic,    dropping,    dropping_llama};
}

TEST(GraphRunnerStagesTest, ACutAtAnyEdgeGivesTheBitsOfTheWhole) {
  for (const ModelConfig& config : Families()) {
    Case all(config, 1);
    for (const int cut : CutPositions(all.graph())) {
      for (const Recompute recompute :
           {Recompute::kNothing, Recompute::kBlocks}) {
        EXPECT_TRUE(all.RunCut({cut}, recompute) == all.whole())
            << config.model_type << " before "
            << all.graph().operators[cut].name;
      }
    }
  }
}

TEST(GraphRunnerStagesTest, EveryOperatorAStageOfItsOwnGivesThemToo) {
  for (const ModelConfig& config : Families()) {
    Case all(config, 3);
    const auto cuts = CutPositions(all.graph());
    EXPECT_TRUE(all.RunCut(cuts, Recompute::kBlocks) == all.whole())
        << config.model_type;
  }
}

std::vector<int> RandomCuts(const Graph& graph, uint64_t seed) {
  Random random(seed);
  std::vector<int> cuts;
  const uint64_t one_in = 1 + random.Below(12);
  for (const int position : CutPositions(graph)) {
    if (random.Below(one_in) == 0) cuts.push_back(position);
  }
  return cuts;
}

TEST(GraphRunnerStagesTest, RandomCutsGiveThemToo) {
  for (const ModelConfig& config : Families()) {
    Case all(config, 1);
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      const auto cuts = RandomCuts(all.graph(), seed);
      ASSERT_EQ(cuts, RandomCuts(all.graph(), seed));
      const Recompute recompute =
          seed % 2 == 0 ? Recompute::kBlocks : Recompute::kNothing;
      EXPECT_TRUE(all.RunCut(cuts, recompute) == all.whole())
          << config.model_type << ", seed " << seed << ", cuts "
          << absl::StrJoin(cuts, ",");
    }
  }
}

TEST(GraphRunnerStagesTest, ProductsOfBf16GiveThemToo) {
  const cpu::GemmBackend* const bf16 = cpu::Bf16Gemm();
  if (bf16 == nullptr) GTEST_SKIP() << "no bf16 on this processor";
  for (const ModelConfig& config : Families()) {
    Case all(config, 1, *bf16);
    EXPECT_FALSE(all.whole() == Case(config, 1).whole()) << config.model_type;
    for (const int cut : CutPositions(all.graph())) {
      for (const Recompute recompute :
           {Recompute::kNothing, Recompute::kBlocks}) {
        EXPECT_TRUE(all.RunCut({cut}, recompute) == all.whole())
            << config.model_type << " before "
            << all.graph().operators[cut].name;
      }
    }
  }
}

// So an equal result says something.
TEST(GraphRunnerStagesTest, ADroppedGradientShowsAtEveryEdge) {
  for (const ModelConfig& config : Families()) {
    Case all(config, 1);
    for (const int cut : CutPositions(all.graph())) {
      EXPECT_FALSE(all.RunCut({cut}, Recompute::kNothing,
                              Mistake::kDropsAGradient) == all.whole())
          << config.model_type << " before " << all.graph().operators[cut].name;
    }
  }
}

TEST(GraphRunnerStagesTest, SharedGradientsSummedApartHaveOtherBits) {
  for (const ModelConfig& config : {Gpt2(true), Llama(true)}) {
    Case all(config, 1);
    const std::vector<int> cuts = {7};
    const Result apart =
        all.RunCut(cuts, Recompute::kNothing, Mistake::kSumsSharedApart);
    EXPECT_EQ(apart.losses, all.whole().losses);
    EXPECT_NE(apart.gradients, all.whole().gradients);
    // Every other tensor is the same: the token table comes first.
    const auto rest =
        static_cast<ptrdiff_t>(all.graph().layout.tensor(0).elements);
    EXPECT_TRUE(std::equal(apart.gradients.begin() + rest,
                           apart.gradients.end(),
                           all.whole().gradients.begin() + rest));
  }
}

}  // namespace
}  // namespace skerry::model
