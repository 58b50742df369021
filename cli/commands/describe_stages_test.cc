#include "cli/commands/describe_stages.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/spec/model_graph.h"

namespace skerry::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

model::Graph Small() {
  model::ModelConfig config;
  config.vocab_size = 31;
  config.n_positions = 8;
  config.n_embd = 12;
  config.n_layer = 2;
  config.n_head = 2;
  return model::BuildGraph(config);
}

TEST(DescribeStagesTest, CutsAreNamedByTheOperatorAfterThem) {
  const model::Graph graph = Small();
  EXPECT_THAT(CutsBefore(graph, {"transformer.h.0.ln_1", "lm_head"}).value(),
              ElementsAre(1, static_cast<int>(graph.operators.size()) - 2));
  const auto error = [&](const std::vector<std::string>& names) {
    return std::string(CutsBefore(graph, names).status().message());
  };
  EXPECT_THAT(error({"transformer.h.0.ln_4"}),
              HasSubstr("did you mean transformer.h.0.ln_"));
  EXPECT_THAT(error({"lm_head", "transformer.ln_f"}), HasSubstr("order"));
  EXPECT_THAT(error({"loss"}), HasSubstr("runs as one with lm_head"));
}

TEST(DescribeStagesTest, MoreStagesThanEdgesAreRefused) {
  const model::Graph graph = Small();
  EXPECT_EQ(CutsInto(graph, 19, 1, 8).value().size(), 18u);
  EXPECT_THAT(std::string(CutsInto(graph, 20, 1, 8).status().message()),
              HasSubstr("--stages is 20, must be 1 to 19 for this model"));
  EXPECT_FALSE(CutsInto(graph, 0, 1, 8).ok());
}

TEST(DescribeStagesTest, EveryValueThatCrossesIsALine) {
  const model::Graph graph = Small();
  const std::vector<int> cuts = {2};
  const auto cut =
      model::SummarizeCut(graph, cuts, 1, 8, 1, model::Recompute::kNothing);
  EXPECT_THAT(
      StagesText(cut, 1, 8),
      HasSubstr("\nForward a micro-batch, and as much back:\n"
                "From 0 to 1: transformer.embedding [1, 8, 12], 384 B\n"
                "From 0 to 1: transformer.h.0.ln_1 [1, 8, 12], 384 B\n"
                "\nIn stages 0 and 1: transformer.wte.weight; its gradient, "
                "1.5 KiB, goes back with every micro-batch\n"));
}

}  // namespace
}  // namespace skerry::cli
