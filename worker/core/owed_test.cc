#include "worker/core/owed.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using compression::CodecId;

OwedSpan Owing(const std::vector<float>& start) {
  const std::vector<float> live(start.size());
  return AddRound(NothingOwed(start.size()), 1, start, live)->owed;
}

TEST(OwedTest, RoundAddsItsWeightedChange) {
  const auto produced = AddRound(Owing({1, 1}), 4, std::vector<float>{3, 2},
                                 std::vector<float>{1, 3});
  ASSERT_TRUE(produced.ok());
  EXPECT_EQ(*produced->owed.values, (std::vector<float>{9, -3}));
  EXPECT_EQ(produced->sum, 4.0);
  EXPECT_EQ(produced->delta_squared, 5.0);
  EXPECT_EQ(produced->owed.squared, 90.0);
}

TEST(OwedTest, ParameterThatIsNotFiniteIsRefused) {
  const std::vector<float> live = {std::numeric_limits<float>::quiet_NaN()};
  EXPECT_TRUE(absl::IsInvalidArgument(
      AddRound(Owing({1}), 1, std::vector<float>{1}, live).status()));
}

TEST(OwedTest, AveragedValuesAreOwedThemselves) {
  const std::vector<float> live = {0.5f, -2, 0};
  const auto produced = AddValues(NothingOwed(3), 4, live);
  ASSERT_TRUE(produced.ok());
  EXPECT_EQ(*produced->owed.values, (std::vector<float>{-2, 8, 0}));
  EXPECT_EQ(produced->sum, 6.0);
  EXPECT_EQ(produced->delta_squared, 0.0);
  // Without weight they add nothing.
  const auto more = AddValues(produced->owed, 0, live);
  ASSERT_TRUE(more.ok());
  EXPECT_EQ(*more->owed.values, *produced->owed.values);
  EXPECT_TRUE(absl::IsInvalidArgument(
      AddValues(NothingOwed(1), 1,
                std::vector<float>{std::numeric_limits<float>::infinity()})
          .status()));
}

TEST(OwedTest, WhatWasSentIsOwedNoMoreAndBetaKeepsItsShare) {
  const OwedSpan owed = Owing({3, -1});
  std::vector<std::byte> sent;
  ASSERT_TRUE((*compression::FindCodec(CodecId::kRawF32))
                  ->Encode(std::vector<float>{2, -2}, sent)
                  .ok());
  const auto settled = SettleSent(owed, CodecId::kRawF32, sent, 0.25);
  ASSERT_TRUE(settled.ok());
  EXPECT_EQ(*settled->owed.values, (std::vector<float>{0.25f, 0.25f}));
  EXPECT_EQ(settled->taken, 0.0);  // 2 and -2
  EXPECT_EQ(settled->lost, 1.5);
  EXPECT_EQ(settled->lost_squared, 2 * 0.75 * 0.75);
  EXPECT_TRUE(absl::IsDataLoss(
      SettleSent(owed, CodecId::kRawF32, std::span(sent).first(3), 1)
          .status()));
}

TEST(OwedTest, OwnerOwesItsErrorAndNothingElse) {
  const Settled settled =
      SettleOwned(Owing({3, -1}), std::vector<float>{0.5f, 0}, 1);
  EXPECT_EQ(*settled.owed.values, (std::vector<float>{0.5f, 0}));
  EXPECT_EQ(settled.taken, 1.5);
  EXPECT_EQ(settled.lost, 0.0);
}

}  // namespace
}  // namespace skerry::worker
