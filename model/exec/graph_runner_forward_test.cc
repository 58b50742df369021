#include <cmath>
#include <vector>

#include "base/executor.h"
#include "gtest/gtest.h"
#include "model/cpu/gemm.h"
#include "model/exec/graph_runner.h"
#include "model/exec/graph_runner_testutil.h"

namespace skerry::model {
namespace {

constexpr int kVocab = 13;
constexpr int kWidth = 6;

double Gelu(double x) {
  const double u =
      std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(u));
}

TEST(GraphRunnerForwardTest, AnAddWithoutALinearBeforeItRunsAlone) {
  const Graph graph = BranchGraph(kVocab, 4, kWidth);
  InlineExecutor executor;
  auto runner = GraphRunner::Create(graph, 2, 4, Recompute::kNothing,
                                    cpu::DefaultGemmBackend(), executor);
  ASSERT_TRUE(runner.ok()) << runner.status();
  const auto p = RandomParameters(graph);
  const auto ids = RandomIds(1, kVocab, 8);
  (*runner)->Forward({2, 4, ids}, p);
  std::vector<float> logits(ids.size() * kVocab);
  (*runner)->HeadLogits(p, logits);
  const auto at = [&](int tensor, int i) {
    return double{p[graph.layout.tensor(tensor).offset + i]};
  };
  for (size_t t = 0; t < ids.size(); ++t) {
    double x[kWidth], y[kWidth];
    for (int i = 0; i < kWidth; ++i) {
      x[i] = at(0, ids[t] * kWidth + i) +
             at(1, static_cast<int>(t % 4) * kWidth + i);
    }
    for (int i = 0; i < kWidth; ++i) {
      double h = at(3, i);
      for (int k = 0; k < kWidth; ++k) h += x[k] * at(2, k * kWidth + i);
      y[i] = x[i] + Gelu(h);
    }
    for (int v = 0; v < kVocab; ++v) {
      double expected = 0;
      for (int i = 0; i < kWidth; ++i) expected += y[i] * at(4, v * kWidth + i);
      EXPECT_NEAR(logits[t * kVocab + v], expected, 1e-5);
    }
  }
}

}  // namespace
}  // namespace skerry::model
