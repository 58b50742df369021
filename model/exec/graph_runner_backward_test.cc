#include <vector>

#include "base/executor.h"
#include "gtest/gtest.h"
#include "model/cpu/gemm.h"
#include "model/exec/graph_runner.h"
#include "model/exec/graph_runner_testutil.h"

namespace skerry::model {
namespace {

constexpr int kVocab = 13;

// The activation ends a branch, so its output's gradient is the stream's too
// and must outlive it.
TEST(GraphRunnerBackwardTest, ABranchThatEndsInAnActivationKeepsTheStream) {
  const Graph graph = BranchGraph(kVocab, 4, 6);
  InlineExecutor executor;
  auto runner = GraphRunner::Create(graph, 2, 4, Recompute::kNothing,
                                    cpu::DefaultGemmBackend(), executor);
  ASSERT_TRUE(runner.ok()) << runner.status();
  auto parameters = RandomParameters(graph);
  const auto ids = RandomIds(1, kVocab, 8);
  const auto targets = RandomIds(2, kVocab, 8);
  const TokenBlock block{2, 4, ids};
  std::vector<float> gradients(parameters.size());
  (*runner)->Forward(block, parameters);
  (*runner)->HeadBackward(targets, 1, parameters, gradients);
  (*runner)->Backward(parameters, gradients);
  const auto loss = [&] {
    (*runner)->Forward(block, parameters);
    return (*runner)->HeadLoss(targets, parameters);
  };
  for (size_t i = 0; i < parameters.size(); ++i) {
    constexpr float kStep = 1.0f / 128;
    const float kept = parameters[i];
    parameters[i] = kept + kStep;
    const double up = loss();
    parameters[i] = kept - kStep;
    const double down = loss();
    parameters[i] = kept;
    EXPECT_NEAR(gradients[i], (up - down) / (2 * kStep), 2e-3) << i;
  }
}

}  // namespace
}  // namespace skerry::model
