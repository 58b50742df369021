#include "trainer/attach/core/rank_answers.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::trainer::attach {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const RunRequest kRequest = {.ranges = {{0, 10}, {20, 26}},
                             .replica_batch_samples = 6};

// Parts of 16 samples in 3 steps.
std::vector<RunResult> ThreeRanks() {
  RunResult result = {.samples = 4,
                      .inner_steps = 3,
                      .loss = 2,
                      .gradient_norm = 7,
                      .learning_rate = 0.5,
                      .metrics = {{"a/b", 1}}};
  std::vector<RunResult> ranks(3, result);
  ranks[1].samples = 12;
  ranks[1].loss = 4;
  ranks[1].metrics = {{"a/b", 3}, {"c", 5}};
  ranks[1].gradient_norm = 8;
  ranks[2].samples = 0;
  ranks[2].loss = 100;
  ranks[2].metrics = {{"only.here", 1}};
  return ranks;
}

std::string Complaint(const std::vector<RunResult>& ranks) {
  const auto merged = MergeRuns(kRequest, ranks);
  EXPECT_TRUE(absl::IsInternal(merged.status()));
  return std::string(merged.status().message());
}

TEST(MergeRunsTest, MeansAreWeightedBySamples) {
  const auto merged = MergeRuns(kRequest, ThreeRanks());
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->samples, 16u);
  EXPECT_EQ(merged->inner_steps, 3u);
  EXPECT_EQ(merged->loss, 3.5);
  EXPECT_EQ(merged->gradient_norm, 7);
  const std::map<std::string, double> metrics = {{"a/b", 2.5}, {"c", 5}};
  EXPECT_EQ(merged->metrics, metrics);
}

TEST(MergeRunsTest, LossThatNobodyMeasuresIsNone) {
  std::vector<RunResult> ranks = ThreeRanks();
  ranks[0].has_loss = false;
  EXPECT_EQ(MergeRuns(kRequest, ranks)->loss, 4);
  ranks[1].has_loss = false;
  EXPECT_FALSE(MergeRuns(kRequest, ranks)->has_loss);
  EXPECT_EQ(MergeRuns(kRequest, ranks)->loss, 0);
}

TEST(MergeRunsTest, MetricThatIsNotFiniteIsLeftOut) {
  std::vector<RunResult> ranks = ThreeRanks();
  ranks[1].metrics["c"] = kNan;
  EXPECT_EQ(MergeRuns(kRequest, ranks)->metrics.count("c"), 0u);
}

TEST(MergeRunsTest, WrongCountsAreRefused) {
  std::vector<RunResult> ranks = ThreeRanks();
  ranks[1].inner_steps = 4;
  EXPECT_EQ(Complaint(ranks), "rank 1 took 4 steps of 3");
  ranks = ThreeRanks();
  ranks[2].samples = 1;
  EXPECT_EQ(Complaint(ranks), "the ranks trained on 17 samples of 16");
  ranks[2].samples = ~uint64_t{0};
  EXPECT_THAT(Complaint(ranks), HasSubstr("rank 2 trained on 184467"));
  ranks = ThreeRanks();
  ranks[0].skipped_steps = 4;
  EXPECT_EQ(Complaint(ranks), "rank 0 skipped 4 steps of 3");
}

TEST(MergeRunsTest, WrongNumbersAndNamesAreRefused) {
  std::vector<RunResult> ranks = ThreeRanks();
  ranks[1].loss = kNan;
  EXPECT_EQ(Complaint(ranks), "rank 1 has a loss that is not finite");
  for (const std::string& name :
       {std::string(), std::string(33, 'a'), std::string("a b")}) {
    ranks = ThreeRanks();
    ranks[0].metrics[name] = 1;
    EXPECT_THAT(Complaint(ranks), HasSubstr("rank 0 reports a metric whose"));
  }
  ranks = ThreeRanks();
  for (int i = 0; i < 16; ++i) ranks[0].metrics["m" + std::to_string(i)] = 1;
  EXPECT_EQ(Complaint(ranks), "rank 0 reports 17 metrics, at most 16");
  ranks[0].metrics.erase("a/b");
  EXPECT_THAT(Complaint(ranks), HasSubstr("the ranks report 19 metrics"));
}

TEST(MergeEvaluationsTest, LossIsWeightedBySamples) {
  const std::vector<EvaluateResult> ranks = {{2, 4}, {4, 12}, {kNan, 0}};
  const auto merged = MergeEvaluations(ranks);
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->loss, 3.5);
  EXPECT_EQ(merged->samples, 16u);
}

TEST(MergeEvaluationsTest, NothingAndNoNumberAreRefused) {
  const std::vector<EvaluateResult> none(2);
  EXPECT_TRUE(absl::IsInternal(MergeEvaluations(none).status()));
  const std::vector<EvaluateResult> odd = {{1, 1}, {kNan, 1}};
  EXPECT_EQ(MergeEvaluations(odd).status().message(),
            "rank 1 has a validation loss that is not finite");
}

}  // namespace
}  // namespace skerry::trainer::attach
