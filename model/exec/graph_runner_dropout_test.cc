// Dropout of a whole GPT-2, against the model written out in float64.

#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/executor.h"
#include "gtest/gtest.h"
#include "model/cpu/dropout_mask.h"
#include "model/cpu/gemm.h"
#include "model/exec/graph_runner.h"
#include "model/exec/graph_runner_testutil.h"
#include "model/exec/initialize_parameters.h"
#include "model/exec/language_model.h"
#include "model/exec/thread_executor_testutil.h"
#include "model/spec/graph_cut.h"

namespace skerry::model {
namespace {

constexpr int kRows = 2;
constexpr int kColumns = 5;
constexpr size_t kTokens = kRows * kColumns;
constexpr uint64_t kSeed = 123;
constexpr uint64_t kSamples[kRows] = {17, 4};

ModelConfig Small() {
  ModelConfig config;
  config.vocab_size = 7;
  config.n_positions = 6;
  config.n_embd = 6;
  config.n_layer = 2;
  config.n_head = 2;
  config.n_inner = 9;
  config.embd_pdrop = 0.125;
  config.resid_pdrop = 0.25;
  config.attn_pdrop = 0.375;
  return config;
}

using Row = std::vector<double>;
using Rows = std::vector<Row>;

// One sample through the model. Masks are numbered in the order of the graph:
// the embedding's, then of each layer one for every head and one for each of
// the two branches.
class Reference {
 public:
  Reference(const ModelConfig& config, const ParameterLayout& layout,
            const Row& parameters)
      : config_(config), layout_(layout), parameters_(parameters) {}

  double Loss(uint64_t sample, std::span<const int32_t> ids,
              std::span<const int32_t> targets) {
    sample_ = sample;
    stream_ = 0;
    const Row wte = Tensor("transformer.wte.weight");
    const Row wpe = Tensor("transformer.wpe.weight");
    const size_t width = static_cast<size_t>(config_.n_embd);
    Rows x(ids.size(), Row(width));
    for (size_t t = 0; t < ids.size(); ++t) {
      for (size_t i = 0; i < width; ++i) {
        x[t][i] = wte[ids[t] * width + i] + wpe[t * width + i];
      }
    }
    Drop(config_.embd_pdrop, x);
    for (int layer = 0; layer < config_.n_layer; ++layer) Block(layer, x);
    const Rows last = Norm("transformer.ln_f", x);
    double loss = 0;
    for (size_t t = 0; t < ids.size(); ++t) {
      double sum = 0;
      Row logits(static_cast<size_t>(config_.vocab_size));
      for (size_t v = 0; v < logits.size(); ++v) {
        for (size_t i = 0; i < width; ++i) {
          logits[v] += last[t][i] * wte[v * width + i];
        }
        sum += std::exp(logits[v]);
      }
      loss += std::log(sum) - logits[static_cast<size_t>(targets[t])];
    }
    return loss;
  }

 private:
  Row Tensor(const std::string& name) const {
    const ParameterTensor& tensor = layout_.tensor(layout_.Find(name).value());
    const auto begin = parameters_.begin() + tensor.offset;
    return {begin, begin + tensor.elements};
  }

  double Factor(double rate, uint32_t stream, size_t row, size_t column) const {
    cpu::DropoutMask mask = cpu::MaskOfRate(rate);
    mask.seed = kSeed;
    mask.sample = sample_;
    mask.stream = stream;
    return cpu::DropoutFactor(mask, static_cast<uint32_t>(row), column);
  }

  void Drop(double rate, Rows& x) {
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t i = 0; i < x[t].size(); ++i) {
        x[t][i] *= Factor(rate, stream_, t, i);
      }
    }
    ++stream_;
  }

  Rows Norm(const std::string& name, const Rows& x) const {
    const Row weight = Tensor(name + ".weight"), bias = Tensor(name + ".bias");
    Rows y = x;
    for (Row& row : y) {
      const double n = static_cast<double>(row.size());
      const double mean = std::accumulate(row.begin(), row.end(), 0.0) / n;
      double variance = 0;
      for (const double v : row) variance += (v - mean) * (v - mean) / n;
      const double scale =
          1 / std::sqrt(variance + double{config_.layer_norm_epsilon});
      for (size_t i = 0; i < row.size(); ++i) {
        row[i] = (row[i] - mean) * scale * weight[i] + bias[i];
      }
    }
    return y;
  }

  Rows Linear(const std::string& name, const Rows& x) const {
    const Row weight = Tensor(name + ".weight"), bias = Tensor(name + ".bias");
    Rows y;
    for (const Row& row : x) {
      Row out = bias;
      for (size_t i = 0; i < row.size(); ++i) {
        for (size_t j = 0; j < out.size(); ++j) {
          out[j] += row[i] * weight[i * out.size() + j];
        }
      }
      y.push_back(out);
    }
    return y;
  }

  Rows Attention(const Rows& qkv) {
    const size_t width = static_cast<size_t>(config_.n_embd);
    const size_t size = static_cast<size_t>(config_.head_size());
    Rows out(qkv.size(), Row(width));
    for (size_t head = 0; head < width; head += size, ++stream_) {
      for (size_t t = 0; t < qkv.size(); ++t) {
        Row p(t + 1);
        double sum = 0;
        for (size_t s = 0; s <= t; ++s) {
          double score = 0;
          for (size_t d = head; d < head + size; ++d) {
            score += qkv[t][d] * qkv[s][width + d];
          }
          p[s] = std::exp(score / std::sqrt(static_cast<double>(size)));
          sum += p[s];
        }
        for (size_t s = 0; s <= t; ++s) {
          const double weight =
              p[s] / sum * Factor(config_.attn_pdrop, stream_, t, s);
          for (size_t d = head; d < head + size; ++d) {
            out[t][d] += weight * qkv[s][2 * width + d];
          }
        }
      }
    }
    return out;
  }

  void AddBranch(Rows branch, Rows& x) {
    Drop(config_.resid_pdrop, branch);
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t i = 0; i < x[t].size(); ++i) x[t][i] += branch[t][i];
    }
  }

  void Block(int layer, Rows& x) {
    const std::string at = "transformer.h." + std::to_string(layer) + ".";
    const Rows mixed =
        Attention(Linear(at + "attn.c_attn", Norm(at + "ln_1", x)));
    AddBranch(Linear(at + "attn.c_proj", mixed), x);
    Rows inner = Linear(at + "mlp.c_fc", Norm(at + "ln_2", x));
    for (Row& row : inner) {
      for (double& v : row) {
        v = 0.5 * v *
            (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) *
                           (v + 0.044715 * v * v * v)));
      }
    }
    AddBranch(Linear(at + "mlp.c_proj", inner), x);
  }

  const ModelConfig& config_;
  const ParameterLayout& layout_;
  const Row& parameters_;
  uint64_t sample_ = 0;
  uint32_t stream_ = 0;
};

std::unique_ptr<LanguageModel> MakeModel(const ModelConfig& config,
                                         Recompute recompute,
                                         ParallelExecutor& executor) {
  auto model =
      LanguageModel::Create(
          config,
          {.rows_max = kRows, .recompute = recompute, .dropout_seed = kSeed},
          executor)
          .value();
  InitializeParameters(model->layout(), config, 3, model->parameters());
  // Larger weights than a fresh model's, so that everything matters.
  for (const ParameterTensor& tensor : model->layout().tensors()) {
    if (!tensor.weight_decay) continue;
    for (int64_t i = 0; i < tensor.elements; ++i) {
      model->parameters()[tensor.offset + i] *= 15;
    }
  }
  return model;
}

class DropoutTest : public ::testing::Test {
 protected:
  const std::vector<int32_t> ids_ = RandomIds(1, 7, kTokens);
  const std::vector<int32_t> targets_ = RandomIds(2, 7, kTokens);
  const Batch batch_{kRows, kColumns, ids_, targets_, kSamples};
  InlineExecutor executor_;
};

TEST_F(DropoutTest, LossAndGradientsAreThoseOfFloat64) {
  const ModelConfig config = Small();
  const auto model = MakeModel(config, Recompute::kNothing, executor_);
  Row parameters(model->parameters().begin(), model->parameters().end());
  const auto loss = [&] {
    Reference reference(config, model->layout(), parameters);
    double sum = 0;
    for (size_t r = 0; r < kRows; ++r) {
      sum += reference.Loss(kSamples[r], {&ids_[r * kColumns], kColumns},
                            {&targets_[r * kColumns], kColumns});
    }
    return sum / kTokens;
  };
  EXPECT_NEAR(model->ForwardBackward(batch_, 1), loss(), 1e-5);
  for (size_t i = 0; i < parameters.size(); ++i) {
    constexpr double kStep = 1e-5;
    const double kept = parameters[i];
    parameters[i] = kept + kStep;
    const double up = loss();
    parameters[i] = kept - kStep;
    const double down = loss();
    parameters[i] = kept;
    ASSERT_NEAR(model->gradients()[i], (up - down) / (2 * kStep), 2e-5) << i;
  }
}

TEST_F(DropoutTest, RecomputedBlocksDropTheSame) {
  const auto kept = MakeModel(Small(), Recompute::kNothing, executor_);
  const auto again = MakeModel(Small(), Recompute::kBlocks, executor_);
  EXPECT_EQ(kept->ForwardBackward(batch_, 1),
            again->ForwardBackward(batch_, 1));
  EXPECT_TRUE(std::equal(kept->gradients().begin(), kept->gradients().end(),
                         again->gradients().begin()));
}

TEST_F(DropoutTest, NothingIsDroppedOutsideTraining) {
  ModelConfig without = Small();
  without.embd_pdrop = without.resid_pdrop = without.attn_pdrop = 0;
  const auto plain = MakeModel(without, Recompute::kNothing, executor_);
  for (const Recompute recompute : {Recompute::kNothing, Recompute::kBlocks}) {
    const auto model = MakeModel(Small(), recompute, executor_);
    EXPECT_NEAR(model->Loss(batch_), plain->Loss(batch_), 1e-5);
    Batch unnumbered = batch_;
    unnumbered.samples = {};
    plain->ZeroGradients();
    EXPECT_NEAR(model->ForwardBackward(unnumbered, 1),
                plain->ForwardBackward(batch_, 1), 1e-5);
    for (size_t i = 0; i < plain->gradients().size(); ++i) {
      ASSERT_NEAR(model->gradients()[i], plain->gradients()[i], 1e-5) << i;
    }
    EXPECT_GT(std::abs(model->ForwardBackward(batch_, 1) - plain->Loss(batch_)),
              1e-3);
  }
}

// What comes out of the embedding's dropout is elementwise, so its bits say
// what was dropped.
std::vector<float> Embedded(const StageGraph& stage,
                            std::span<const float> parameters,
                            ParallelExecutor& executor,
                            std::span<const int32_t> ids,
                            std::span<const uint64_t> samples) {
  const int rows = static_cast<int>(samples.size());
  auto runner =
      GraphRunner::Create(stage.graph, rows, kColumns, Recompute::kNothing,
                          cpu::DefaultGemmBackend(), executor)
          .value();
  runner->Forward({rows, kColumns, ids, samples, kSeed}, parameters);
  const auto out = runner->Crossing(stage.graph.outputs[0], ids.size());
  return {out.begin(), out.end()};
}

TEST_F(DropoutTest, WhatASampleLosesDependsOnItsNumberAlone) {
  const auto model = MakeModel(Small(), Recompute::kNothing, executor_);
  const std::vector<int> cuts = {2};
  const StageGraph stage = CutGraph(model->graph(), cuts)[0];
  // The two tables, which come first.
  const auto parameters = std::span<const float>(model->parameters())
                              .first(stage.graph.layout.element_count());
  const std::vector<uint64_t> samples = {8, 3, uint64_t{1} << 40, 4, 0};
  const auto ids = RandomIds(9, 7, samples.size() * kColumns);
  ThreadExecutor threads(3);
  const auto all = Embedded(stage, parameters, threads, ids, samples);
  for (size_t first = 0; first < samples.size(); ++first) {
    for (size_t rows = 1; first + rows <= samples.size(); ++rows) {
      const auto part = Embedded(stage, parameters, executor_,
                                 {&ids[first * kColumns], rows * kColumns},
                                 {&samples[first], rows});
      EXPECT_TRUE(std::equal(part.begin(), part.end(),
                             all.begin() + first * kColumns * 6))
          << first << " " << rows;
    }
  }
  std::vector<uint64_t> others = samples;
  others[2] += 1;
  EXPECT_NE(Embedded(stage, parameters, executor_, ids, others), all);
}

}  // namespace
}  // namespace skerry::model
