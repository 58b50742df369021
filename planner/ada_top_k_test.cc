#include "planner/ada_top_k.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "planner/codec_options_testutil.h"

namespace skerry::planner {
namespace {

// fp32 values at 6 bytes each, of which one in n is sent.
CodecOption Sparse(int n) {
  return {"top_k/" + std::to_string(n),
          CodecLoss::kSparse,
          {6.0 / n, 1e12, 1e12},
          1.0 - 0.5 / n};
}

// Members with links of these rates and nothing to receive behind them.
CodecProblem ProblemOf(const std::vector<double>& rates) {
  CodecProblem problem;
  problem.handling = {1.0, 0.0};
  problem.options = {{"raw_f32", CodecLoss::kRounding, {4, 1e12, 1e12}, 0}};
  for (int n = 1; n <= 256; n *= 2) problem.options.push_back(Sparse(n));
  problem.shape.elements = 1000000;
  problem.shape.members = {TestMember(99, 1e12, 1000000)};
  for (size_t i = 0; i < rates.size(); ++i) {
    problem.shape.members.push_back(TestMember(i + 1, rates[i], 0));
    problem.shape.members.back().link.down_bytes_per_s = 1e12;
  }
  return problem;
}

TEST(AdaTopKTest, SlowerLinksAreShrunkAtLeastAsMuch) {
  const std::vector<double> rates = {1e9, 1e6, 1e8, 1e7, 3e6, 2e6};
  const CodecProblem problem = ProblemOf(rates);
  const auto choice = ChooseAdaTopK(problem, 100);
  ASSERT_TRUE(choice.ok()) << choice.status();
  const auto bytes = [&](size_t i) {
    return problem.options[choice->codec[i + 1]].cost.bytes_per_element;
  };
  for (size_t i = 0; i < rates.size(); ++i) {
    EXPECT_LE(bytes(i), 4.0);  // never more than dense
    for (size_t j = 0; j < rates.size(); ++j) {
      if (rates[i] <= rates[j]) {
        EXPECT_LE(bytes(i), bytes(j));
      }
    }
  }
  EXPECT_LE(bytes(1), 4.0 / 100);
  EXPECT_EQ(choice->codec[1], 0u);  // 1000 times faster: dense
}

TEST(AdaTopKTest, WhereSparseIsNotSmallerItSendsDense) {
  // The rule would keep 1 of 1.2 values, at 6 bytes where dense takes 4.
  CodecProblem problem = ProblemOf({1e6});
  problem.options.resize(2);
  const auto choice = ChooseAdaTopK(problem, 2);
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->codec[1], 0u);
}

TEST(AdaTopKTest, ARatioOfOneIsNoCompression) {
  const CodecProblem problem = ProblemOf({1e6, 1e8, 1e7});
  const auto choice = ChooseAdaTopK(problem, 1);
  ASSERT_TRUE(choice.ok());
  for (const uint32_t codec : choice->codec) EXPECT_EQ(codec, 0u);
  EXPECT_EQ(choice->relative_error, 0.0);
}

TEST(AdaTopKTest, WithoutASparseCodecThatConvergesItIsRefused) {
  CodecProblem problem = ProblemOf({1e6});
  problem.handling = {1.0, 0.9};
  EXPECT_TRUE(absl::IsInvalidArgument(ChooseAdaTopK(problem, 10).status()));
  problem.handling = {1.0, 0.0};
  EXPECT_TRUE(absl::IsInvalidArgument(ChooseAdaTopK(problem, 0.5).status()));
}

}  // namespace
}  // namespace skerry::planner
