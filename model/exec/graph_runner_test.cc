#include "model/exec/graph_runner.h"

#include <cmath>
#include <vector>

#include "base/executor.h"
#include "gtest/gtest.h"
#include "model/cpu/gemm.h"
#include "model/exec/graph_runner_testutil.h"

namespace skerry::model {
namespace {

// A vocabulary so large that the logits of a batch are made in pieces.
TEST(GraphRunnerTest, LossInPiecesIsTheLossOfAllLogits) {
  constexpr int kVocab = 5000;
  constexpr int kRows = 15;
  constexpr int kColumns = 10;
  const Graph graph = BranchGraph(kVocab, kColumns, 8);
  InlineExecutor executor;
  auto runner = GraphRunner::Create(graph, kRows, kColumns, Recompute::kNothing,
                                    cpu::DefaultGemmBackend(), executor);
  ASSERT_TRUE(runner.ok()) << runner.status();
  const auto parameters = RandomParameters(graph);
  const auto ids = RandomIds(1, kVocab, kRows * kColumns);
  const auto targets = RandomIds(2, kVocab, kRows * kColumns);
  (*runner)->Forward({kRows, kColumns, ids}, parameters);
  std::vector<float> logits(ids.size() * kVocab);
  (*runner)->HeadLogits(parameters, logits);
  double expected = 0;
  for (size_t t = 0; t < ids.size(); ++t) {
    double sum = 0;
    for (int v = 0; v < kVocab; ++v) sum += std::exp(logits[t * kVocab + v]);
    expected += std::log(sum) - logits[t * kVocab + targets[t]];
  }
  EXPECT_NEAR((*runner)->HeadLoss(targets, parameters), expected,
              1e-6 * expected);
  std::vector<float> gradients(parameters.size());
  EXPECT_NEAR((*runner)->HeadBackward(targets, 1, parameters, gradients),
              expected, 1e-6 * expected);
}

TEST(GraphRunnerTest, BuffersBeyondAnyMachineAreAnError) {
  const Graph graph = BranchGraph(8, 1 << 20, 1 << 14);
  InlineExecutor executor;
  EXPECT_TRUE(absl::IsResourceExhausted(
      GraphRunner::Create(graph, 1 << 10, 1 << 20, Recompute::kNothing,
                          cpu::DefaultGemmBackend(), executor)
          .status()));
}

}  // namespace
}  // namespace skerry::model
