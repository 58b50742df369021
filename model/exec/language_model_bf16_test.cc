// Whole models whose products round their operands to bf16: beside the same
// models with those products written out in float64, and beside PyTorch's
// float64 of unrounded ones.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/testing/golden_file.h"
#include "gtest/gtest.h"
#include "model/cpu/gemm.h"
#include "model/cpu/testing/rounded_gemm.h"
#include "model/exec/language_model.h"

namespace skerry::model {
namespace {

using ::skerry::testing::GoldenFile;
using ::skerry::testing::ReadGoldenFile;
using ::skerry::testing::ReadTextFile;
using ::skerry::testing::RelativeError;

// A sum that differs in its last fp32 bit rounds to the neighbouring bf16 now
// and then, 2^-8 away, so equal would be too much to ask.
constexpr double kFromRounded = 4e-3;
// What the rounding itself costs these models, whose weights are large.
constexpr double kLogitsFromExact = 6e-2;
constexpr double kGradientsFromExact = 0.12;
constexpr double kLossFromExact = 6e-3;

struct Result {
  float loss = 0;
  std::vector<float> logits;
  std::vector<std::vector<float>> gradients;  // by tensor
};

class Bf16ModelTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (cpu::Bf16Gemm() == nullptr) {
      GTEST_SKIP() << "no bf16 on this processor";
    }
    const std::string path = std::string("model/exec/testdata/") + GetParam();
    golden_ = ReadGoldenFile(path + ".golden");
    config_ = ParseModelConfig(ReadTextFile(path + ".json")).value();
  }

  Result ResultOf(const cpu::GemmBackend& gemm) {
    const Batch batch = {golden_.ints.at("shape")[0],
                         golden_.ints.at("shape")[1], golden_.ints.at("inputs"),
                         golden_.ints.at("targets")};
    InlineExecutor executor;
    const auto model = LanguageModel::Create(config_,
                                             {.rows_max = batch.rows,
                                              .columns_max = batch.columns,
                                              .gemm = &gemm},
                                             executor)
                           .value();
    const ParameterLayout& layout = model->layout();
    for (size_t i = 0; i < layout.tensors().size(); ++i) {
      const auto& values =
          golden_.floats.at("parameter " + layout.tensors()[i].name);
      std::copy(values.begin(), values.end(),
                layout.Slice(model->parameters(), static_cast<int>(i)).begin());
    }
    Result result;
    result.loss = model->ForwardBackward(batch, 1);
    result.logits.resize(golden_.floats.at("logits").size());
    model->Logits(batch.inputs, batch.rows, batch.columns, result.logits);
    for (size_t i = 0; i < layout.tensors().size(); ++i) {
      const auto slice = layout.Slice(model->gradients(), static_cast<int>(i));
      result.gradients.emplace_back(slice.begin(), slice.end());
      names_.push_back(layout.tensors()[i].name);
    }
    return result;
  }

  static double WorstGradient(const Result& a, const Result& b) {
    double worst = 0;
    for (size_t i = 0; i < a.gradients.size(); ++i) {
      worst =
          std::max(worst, RelativeError(a.gradients[i].data(),
                                        a.gradients[i].size(), b.gradients[i]));
    }
    return worst;
  }

  static double LogitsError(const Result& a, const std::vector<float>& b) {
    return RelativeError(a.logits.data(), a.logits.size(), b);
  }

  GoldenFile golden_;
  ModelConfig config_;
  std::vector<std::string> names_;
};

TEST_P(Bf16ModelTest, IsTheModelOfRoundedOperands) {
  const Result bf16 = ResultOf(*cpu::Bf16Gemm());
  const Result rounded = ResultOf(cpu::RoundedGemm());
  const Result fp32 = ResultOf(cpu::DefaultGemmBackend());
  const double gradients = WorstGradient(bf16, rounded);
  const double logits = LogitsError(bf16, rounded.logits);
  EXPECT_LE(gradients, kFromRounded);
  EXPECT_LE(logits, kFromRounded);
  EXPECT_NEAR(bf16.loss, rounded.loss, 1e-4f);
  // Unrounded operands are seen.
  EXPECT_GT(WorstGradient(fp32, rounded), 2 * kFromRounded);
  EXPECT_GT(LogitsError(fp32, rounded.logits), 2 * logits);
  std::cout << GetParam() << ": gradients off by " << gradients
            << " of the largest at most, fp32 by "
            << WorstGradient(fp32, rounded) << "\n";
}

TEST_P(Bf16ModelTest, IsNearPyTorchInFloat64) {
  const Result bf16 = ResultOf(*cpu::Bf16Gemm());
  EXPECT_NEAR(bf16.loss, golden_.floats.at("loss")[0], kLossFromExact);
  EXPECT_LE(LogitsError(bf16, golden_.floats.at("logits")), kLogitsFromExact);
  for (size_t i = 0; i < bf16.gradients.size(); ++i) {
    EXPECT_LE(RelativeError(bf16.gradients[i].data(), bf16.gradients[i].size(),
                            golden_.floats.at("gradient " + names_[i])),
              kGradientsFromExact)
        << names_[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Bf16ModelTest,
                         ::testing::Values("gpt2_tied", "gpt2_untied",
                                           "llama_grouped", "llama_tied_llama3",
                                           "llama_linear", "llama_dynamic",
                                           "llama_yarn"));

}  // namespace
}  // namespace skerry::model
