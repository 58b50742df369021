#include "cli/commands/simulate.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class SimulateTest : public ::testing::Test {
 protected:
  SimulateTest() {
    arguments_.job = Write("job.yaml", R"(
name: job
model:
  config_json: '{"model_type": "gpt2", "n_positions": 32, "n_embd": 32,
    "n_layer": 1, "n_head": 2, "vocab_size": 256, "resid_pdrop": 0,
    "embd_pdrop": 0, "attn_pdrop": 0}'
data: {path: /data/text, manifest_sha256: )" +
                                           std::string(64, 'a') + R"(}
training: {samples: 960, batch_samples: 4}
outer: {method: local_sgd}
)");
    arguments_.cluster = Write("cluster.yaml", R"(
islands:
  - {name: east, samples_per_s: 20, down_mbit_s: 0.1}
  - {name: west, samples_per_s: 20, down_mbit_s: 0.1}
)");
  }

  static std::string Write(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  absl::Status Run() {
    out_.str("");
    err_.str("");
    return Simulate(arguments_, {form_, out_, err_});
  }

  SimulateArguments arguments_;
  OutputForm form_ = OutputForm::kTable;
  std::ostringstream out_, err_;
};

TEST_F(SimulateTest, ALongerRoundWinsOverASlowLinkAndIsMarked) {
  arguments_.lists.taus = {4, 12};
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(out_.str(), HasSubstr("\n*      12  int8_block"));
  EXPECT_THAT(out_.str(), HasSubstr("\n-       4  int8_block"));
  EXPECT_EQ(err_.str(),
            "plan 1 of 2: tau 4, int8_block, local_sgd, 2 islands\n"
            "plan 2 of 2: tau 12, int8_block, local_sgd, 2 islands\n");
}

TEST_F(SimulateTest, TheSameArgumentsPrintTheSame) {
  form_ = OutputForm::kJson;
  arguments_.preempt_every = absl::Seconds(20);
  arguments_.away = absl::Seconds(5);
  ASSERT_TRUE(Run().ok());
  const std::string first = out_.str();
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(out_.str(), first);
  arguments_.seed = 2;
  ASSERT_TRUE(Run().ok());
  EXPECT_NE(out_.str(), first);
}

TEST_F(SimulateTest, JsonHasBytesByIsland) {
  form_ = OutputForm::kJson;
  ASSERT_TRUE(Run().ok());
  const json plan = json::parse(out_.str())["plans"][0];
  EXPECT_EQ(plan["commits"], "10");
  EXPECT_EQ(plan["best"], true);
  EXPECT_EQ(plan["traffic"][0]["island"], "east");
  // Parameters of 256 x 32 tokens, 32 x 32 positions, a block and a norm.
  const double model = (8192 + 1024 + 12'704 + 64) * (1 + 4.0 / 256);
  const double sent = std::stod(plan["sent_bytes"].get<std::string>());
  EXPECT_NEAR(sent / (2 * 10 * model), 1, 0.1);
}

TEST_F(SimulateTest, PreemptionCostsGoodput) {
  form_ = OutputForm::kJson;
  arguments_.trace = Write("spot.csv", "10,west0,down\n20,west0,up\n");
  ASSERT_TRUE(Run().ok());
  const json plan = json::parse(out_.str())["plans"][0];
  EXPECT_LT(plan["live_share"], 1.0);
  EXPECT_LT(plan["goodput"], 1.0);
  EXPECT_GT(plan["goodput_of_live"], plan["goodput"]);
  EXPECT_EQ(plan["lives"], "3");
}

TEST_F(SimulateTest, WhatIsWrongIsSaidInOneLine) {
  arguments_.rounds = 1;
  EXPECT_THAT(std::string(Run().message()), HasSubstr("--rounds is 1"));
  arguments_.rounds = 10;
  arguments_.trace = Write("spot.csv", "10,north0,down\n");
  absl::Status status = Run();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("spot.csv:1: the cluster has no worker north0"));
  arguments_.trace = "";
  arguments_.cluster = "/nowhere/cluster.yaml";
  status = Run();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nowhere/cluster"));
  EXPECT_EQ(out_.str(), "");
}

constexpr char kProgramJob[] = R"(
name: vision
model: {program: {name: resnet, parameters: {width: 64}}}
data: {id: imagenet}
training: {samples: 960, batch_samples: 4}
outer: {method: local_sgd}
)";

constexpr char kDescription[] = R"({"elements": 100000,
  "flops_per_sample": 0, "step_s": 0.2, "samples_per_step": 4,
  "peak_memory_bytes": 1, "tensors": [{"name": "w", "shape": [100000]}]})";

TEST_F(SimulateTest, AProgramIsSimulatedByItsDescription) {
  arguments_.job = Write("program.yaml", kProgramJob);
  EXPECT_THAT(std::string(Run().message()),
              HasSubstr("give what that prints with --description FILE"));
  arguments_.description = Write("description.json", kDescription);
  const absl::Status run = Run();
  ASSERT_TRUE(run.ok()) << run;
  EXPECT_THAT(out_.str(), HasSubstr(" samples/s  "));
  // Nobody knows how long operations take that nobody has counted.
  arguments_.cluster =
      Write("flops.yaml", "islands: [{name: east, flops_per_s: 1e9}]");
  EXPECT_THAT(std::string(Run().message()),
              HasSubstr("islands[0].flops_per_s: says nothing where the "
                        "operations of a sample are not known"));
}

TEST_F(SimulateTest, ADescriptionIsForPrograms) {
  arguments_.description = Write("description.json", kDescription);
  EXPECT_THAT(std::string(Run().message()),
              HasSubstr("--description: is for jobs with model.program"));
}

}  // namespace
}  // namespace skerry::cli
