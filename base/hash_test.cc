#include "base/hash.h"

#include <array>
#include <string_view>

#include "gtest/gtest.h"

namespace skerry {
namespace {

// Published test vector of XXH3-64: the empty input with seed 0.
TEST(HashTest, EmptyInputMatchesThePublishedVector) {
  EXPECT_EQ(Hash64({}), 0x2d06800538d394c2ull);
}

TEST(HashTest, OneFlippedBitChangesTheHash) {
  std::array<float, 64> values{};
  const uint64_t before = Hash64Of(std::span<const float>(values));
  values[40] = -0.0f;
  EXPECT_NE(before, Hash64Of(std::span<const float>(values)));
}

TEST(HashTest, CombinationDependsOnOrder) {
  EXPECT_NE(CombineHash(CombineHash(0, 1), 2),
            CombineHash(CombineHash(0, 2), 1));
}

}  // namespace
}  // namespace skerry
