#include "cli/commands/describe_model.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using ::testing::HasSubstr;

constexpr char kGpt2[] = R"({"model_type": "gpt2", "resid_pdrop": 0,
    "embd_pdrop": 0, "attn_pdrop": 0})";

class DescribeModelTest : public ::testing::Test {
 protected:
  absl::Status Describe(const std::string& config) {
    arguments_.file = ::testing::TempDir() + "/config.json";
    std::ofstream(arguments_.file) << config;
    out_.str("");
    return DescribeModel(arguments_, {form_, out_, err_});
  }

  DescribeModelArguments arguments_;
  OutputForm form_ = OutputForm::kTable;
  std::ostringstream out_, err_;
};

TEST_F(DescribeModelTest, TellsPublishedCounts) {
  ASSERT_TRUE(Describe(kGpt2).ok());
  EXPECT_THAT(out_.str(), HasSubstr("124439808 in 148 tensors"));
  EXPECT_THAT(out_.str(), HasSubstr("1 samples of 1024 tokens"));
  EXPECT_THAT(out_.str(), HasSubstr("AdamW moments:    949.4 MiB"));
}

TEST_F(DescribeModelTest, JsonsPartsAddUpToItsTotal) {
  form_ = OutputForm::kJson;
  arguments_.tokens = 100;
  arguments_.samples = 3;
  ASSERT_TRUE(Describe(R"({"model_type": "llama"})").ok());
  const auto object = nlohmann::json::parse(out_.str());
  EXPECT_EQ(object["parameters"], "6738415616");
  EXPECT_EQ(object["sequence_tokens"], 100);
  const auto number = [&](const std::string& key) {
    return std::stoll(object[key].get<std::string>());
  };
  EXPECT_EQ(number("parameter_bytes") + number("gradient_bytes") +
                number("optimizer_bytes") + number("activation_bytes") +
                number("workspace_bytes"),
            number("memory_bytes"));
  // Twice the weights that multiply, a token; attention is small at 100.
  EXPECT_NEAR(object["forward_flops"].get<double>() / (2 * 6.6e9 * 300), 1,
              0.02);
}

TEST_F(DescribeModelTest, StagesHaveTheirPartsAndWhatTheySend) {
  arguments_.stages = 3;
  ASSERT_TRUE(Describe(kGpt2).ok());
  EXPECT_THAT(out_.str(), HasSubstr("124439808 in 148 tensors"));
  EXPECT_THAT(out_.str(), HasSubstr("STAGE  FROM"));
  EXPECT_THAT(out_.str(), HasSubstr("[1, 1024, 768], 3.0 MiB"));
  EXPECT_THAT(out_.str(), HasSubstr("In stages 0 and 2: "
                                    "transformer.wte.weight; its gradient, "
                                    "147.2 MiB"));
}

TEST_F(DescribeModelTest, JsonOfACutHasTheSameKeysForEveryStage) {
  form_ = OutputForm::kJson;
  arguments_.cuts = {"transformer.h.3.ln_1", "transformer.h.7.mlp.act"};
  ASSERT_TRUE(Describe(kGpt2).ok());
  const auto object = nlohmann::json::parse(out_.str());
  ASSERT_EQ(object["stages"].size(), 3u);
  double flops = 0;
  for (const auto& stage : object["stages"]) {
    flops += stage["forward_flops"].get<double>();
    EXPECT_TRUE(stage.contains("memory_bytes"));
  }
  EXPECT_DOUBLE_EQ(flops, object["forward_flops"].get<double>());
  EXPECT_EQ(object["stages"][1]["first_operator"], "transformer.h.3.ln_1");
  EXPECT_EQ(object["stages"][1]["sends"].size(), 2u);
  EXPECT_EQ(object["stages"][1]["sends"][1]["shape"],
            nlohmann::json({1, 1024, 3072}));
  EXPECT_EQ(object["shared_tensors"][0]["stages"], nlohmann::json({0, 2}));
}

TEST_F(DescribeModelTest, WhatCannotBeTrainedIsRefused) {
  EXPECT_THAT(std::string(Describe(R"({"model_type": "mamba"})").message()),
              HasSubstr("model_type"));
  arguments_.tokens = 1025;
  EXPECT_THAT(std::string(Describe(kGpt2).message()),
              HasSubstr("--tokens is 1025, must be 1 to 1024"));
  arguments_.tokens = 1024;
  arguments_.samples = 1 << 21;
  EXPECT_THAT(std::string(Describe(kGpt2).message()), HasSubstr("--samples"));
  arguments_.samples = 1;
  arguments_.threads = 0;
  EXPECT_THAT(std::string(Describe(kGpt2).message()), HasSubstr("--threads"));
  arguments_.threads = 1;
  arguments_.stages = 9999;
  EXPECT_THAT(std::string(Describe(kGpt2).message()),
              HasSubstr("--stages is 9999, must be 1 to"));
  arguments_.cuts = {"transformer.h.3.ln_3"};
  EXPECT_THAT(std::string(Describe(kGpt2).message()),
              HasSubstr("no operator transformer.h.3.ln_3; did you mean"));
  arguments_.file = "/no/such/file";
  EXPECT_FALSE(DescribeModel(arguments_, {form_, out_, err_}).ok());
}

}  // namespace
}  // namespace skerry::cli
