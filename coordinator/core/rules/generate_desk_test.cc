#include "coordinator/core/rules/generate_desk.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

constexpr JobId kJob{1};
const Instant kLater(absl::Seconds(5));

GenerateOrder Request(uint64_t number) { return {number, "once", 8, 1.0, 0}; }

JobFacts Said(uint64_t request, const std::string& text) {
  JobFacts facts;
  facts.job = kJob;
  facts.generated = {{request, text, ""}};
  return facts;
}

TEST(GenerateDeskTest, TheAskedWorkerAnswersOnce) {
  GenerateDesk desk(4);
  ASSERT_TRUE(desk.Ask(kJob, "w", Request(7), kLater).ok());
  EXPECT_EQ(desk.OrdersFor(kJob, "w").size(), 1u);
  desk.OnFacts("other", Said(7, "no"));
  EXPECT_TRUE(desk.TakeAnswers().empty());
  desk.OnFacts("w", Said(7, "upon"));
  desk.OnFacts("w", Said(7, "upon"));
  const auto answers = desk.TakeAnswers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].text, "upon");
}

TEST(GenerateDeskTest, ALostWorkerAndALateOneAreSaidSo) {
  GenerateDesk desk(4);
  ASSERT_TRUE(desk.Ask(kJob, "w", Request(7), kLater).ok());
  ASSERT_TRUE(desk.Ask(kJob, "x", Request(8), kLater).ok());
  desk.OnWorkerLost("w");
  desk.Expire(kLater);
  const auto answers = desk.TakeAnswers();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_TRUE(absl::IsUnavailable(answers[0].status));
  EXPECT_TRUE(absl::IsDeadlineExceeded(answers[1].status));
}

TEST(GenerateDeskTest, TheDeskHasABoundAndNumbersAreUsedOnce) {
  GenerateDesk desk(2);
  ASSERT_TRUE(desk.Ask(kJob, "w", Request(7), kLater).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(desk.Ask(kJob, "w", Request(7), kLater)));
  ASSERT_TRUE(desk.Ask(kJob, "w", Request(8), kLater).ok());
  EXPECT_TRUE(
      absl::IsResourceExhausted(desk.Ask(kJob, "w", Request(9), kLater)));
}

}  // namespace
}  // namespace skerry::coordinator
