#include "trainer/core/element_ranges.h"

#include <vector>

#include "gtest/gtest.h"

namespace skerry::trainer {
namespace {

TEST(CopyRangesTest, CopiesNothingWhenAnyRangeIsWrong) {
  const std::vector<float> from = {1, 2, 3, 4};
  std::vector<float> to(4, 0.f);
  const ElementRange bad[] = {{0, 2}, {3, 5}};
  EXPECT_TRUE(absl::IsInvalidArgument(CopyRanges(bad, from, to)));
  EXPECT_EQ(to, std::vector<float>(4, 0.f));
  const ElementRange good[] = {{0, 1}, {2, 4}};
  EXPECT_TRUE(CopyRanges(good, from, to).ok());
  EXPECT_EQ(to, (std::vector<float>{1, 0, 3, 4}));
}

absl::Status Owners(std::vector<RankRange> owners,
                    std::vector<ElementRange> loaded) {
  return ValidateOwners(owners, loaded, /*element_count=*/10, /*rank=*/1,
                        /*size=*/2);
}

TEST(ValidateOwnersTest, OwnersMustCoverTheModelOnce) {
  EXPECT_TRUE(Owners({{{0, 4}, 0}, {{4, 10}, 1}}, {{4, 7}, {7, 10}}).ok());
  EXPECT_FALSE(Owners({{{0, 4}, 0}, {{5, 10}, 1}}, {{0, 10}}).ok());
  EXPECT_FALSE(Owners({{{0, 6}, 0}, {{4, 10}, 1}}, {{0, 10}}).ok());
  EXPECT_FALSE(Owners({{{0, 4}, 0}, {{4, 9}, 1}}, {{0, 10}}).ok());
  EXPECT_FALSE(Owners({{{0, 4}, 0}, {{4, 11}, 1}}, {{0, 10}}).ok());
  EXPECT_FALSE(Owners({}, {{0, 10}}).ok());
}

TEST(ValidateOwnersTest, APartOfTheModelHasAnOwnerInEveryRank) {
  EXPECT_TRUE(Owners({{{2, 4}, 0}, {{4, 9}, 1}}, {{4, 9}}).ok());
  EXPECT_FALSE(Owners({{{2, 4}, 0}, {{4, 9}, 0}}, {}).ok());
  EXPECT_FALSE(Owners({{{2, 4}, 1}}, {{2, 4}}).ok());
  EXPECT_FALSE(Owners({{{2, 4}, 0}, {{4, 9}, 1}}, {{1, 9}}).ok());
}

TEST(ValidateOwnersTest, RankMustExistAndLoadWhatItOwns) {
  EXPECT_FALSE(Owners({{{0, 10}, 2}}, {{0, 10}}).ok());
  EXPECT_FALSE(Owners({{{0, 10}, -1}}, {{0, 10}}).ok());
  EXPECT_FALSE(Owners({{{0, 4}, 0}, {{4, 10}, 1}}, {{5, 10}}).ok());
  EXPECT_TRUE(Owners({{{0, 10}, 0}}, {}).ok());
}

}  // namespace
}  // namespace skerry::trainer
