// Logits, loss and every gradient against PyTorch in float64, and each GEMM
// library against the other.
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/testing/golden_file.h"
#include "gtest/gtest.h"
#include "model/cpu/gemm.h"
#include "model/exec/language_model.h"

namespace skerry::model {
namespace {

using ::skerry::testing::GoldenFile;
using ::skerry::testing::ReadGoldenFile;
using ::skerry::testing::ReadTextFile;
using ::skerry::testing::RelativeError;

constexpr char kFolder[] = "model/exec/testdata/";
constexpr double kTolerance = 1e-4;

struct Case {
  std::string name;
  const cpu::GemmBackend* gemm;
};

class GoldenTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const std::string path = kFolder + GetParam().name;
    golden_ = ReadGoldenFile(path + ".golden");
    const auto config = ParseModelConfig(ReadTextFile(path + ".json"));
    ASSERT_TRUE(config.ok()) << config.status();
    batch_.rows = golden_.ints.at("shape")[0];
    batch_.columns = golden_.ints.at("shape")[1];
    batch_.inputs = golden_.ints.at("inputs");
    batch_.targets = golden_.ints.at("targets");
    auto model = LanguageModel::Create(*config,
                                       {.rows_max = batch_.rows,
                                        .columns_max = batch_.columns,
                                        .gemm = GetParam().gemm},
                                       executor_);
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
    const ParameterLayout& layout = model_->layout();
    for (size_t i = 0; i < layout.tensors().size(); ++i) {
      const auto& values =
          golden_.floats.at("parameter " + layout.tensors()[i].name);
      const auto slice =
          layout.Slice(model_->parameters(), static_cast<int>(i));
      ASSERT_EQ(values.size(), slice.size()) << layout.tensors()[i].name;
      std::copy(values.begin(), values.end(), slice.begin());
    }
  }

  InlineExecutor executor_;
  GoldenFile golden_;
  Batch batch_;
  std::unique_ptr<LanguageModel> model_;
};

TEST_P(GoldenTest, LogitsAgreeWithPyTorch) {
  const auto& expected = golden_.floats.at("logits");
  std::vector<float> logits(expected.size());
  model_->Logits(batch_.inputs, batch_.rows, batch_.columns, logits);
  EXPECT_LE(RelativeError(logits.data(), logits.size(), expected), kTolerance);
}

TEST_P(GoldenTest, LossAgreesWithPyTorch) {
  const float expected = golden_.floats.at("loss")[0];
  EXPECT_NEAR(model_->Loss(batch_), expected, kTolerance * expected);
  EXPECT_NEAR(model_->ForwardBackward(batch_, 1), expected,
              kTolerance * expected);
}

TEST_P(GoldenTest, EveryGradientAgreesWithPyTorch) {
  model_->ForwardBackward(batch_, 1);
  const ParameterLayout& layout = model_->layout();
  size_t compared = 0;
  for (size_t i = 0; i < layout.tensors().size(); ++i) {
    const std::string& name = layout.tensors()[i].name;
    const auto slice = layout.Slice(model_->gradients(), static_cast<int>(i));
    // The key's bias shifts all scores of a query alike, so its true gradient
    // is 0; the largest value of the whole tensor is the measure.
    EXPECT_LE(RelativeError(slice.data(), slice.size(),
                            golden_.floats.at("gradient " + name)),
              kTolerance)
        << name;
    ++compared;
  }
  size_t stored = 0;
  for (const auto& [name, values] : golden_.floats) {
    stored += name.starts_with("gradient ");
  }
  EXPECT_EQ(compared, stored);
}

TEST_P(GoldenTest, GradientsAddUpAndScale) {
  model_->ForwardBackward(batch_, 1);
  const std::vector<float> once(model_->gradients().begin(),
                                model_->gradients().end());
  model_->ForwardBackward(batch_, 0.5f);
  std::vector<float> expected = once;
  for (float& g : expected) g *= 1.5f;
  EXPECT_LE(RelativeError(model_->gradients().data(),
                          model_->gradients().size(), expected),
            1e-6);
  model_->ZeroGradients();
  model_->ForwardBackward(batch_, 1);
  EXPECT_TRUE(
      std::equal(once.begin(), once.end(), model_->gradients().begin()));
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const char* name :
       {"gpt2_tied", "gpt2_untied", "gpt2_relu", "gpt2_silu", "llama_grouped",
        "llama_tied_llama3", "llama_linear", "llama_dynamic", "llama_yarn"}) {
    cases.push_back({name, &cpu::OneDnnGemm()});
    cases.push_back({name, &cpu::OpenBlasGemm()});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenTest, ::testing::ValuesIn(AllCases()),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           return info.param.name + "_" +
                                  std::string(info.param.gemm->name());
                         });

}  // namespace
}  // namespace skerry::model
