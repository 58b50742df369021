#include "compression/cpu/gaps.h"

#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace skerry::compression::cpu {
namespace {

std::vector<std::byte> OneByOne(const std::vector<uint32_t>& places) {
  std::vector<std::byte> bytes;
  for (size_t i = 1; i < places.size(); ++i) {
    uint32_t gap = places[i] - places[i - 1] - 1;
    for (; gap >= 128; gap /= 128) {
      bytes.push_back(static_cast<std::byte>(gap % 128 + 128));
    }
    bytes.push_back(static_cast<std::byte>(gap));
  }
  return bytes;
}

// Gaps below `most`, and now and then one a little below or above a power of
// two.
std::vector<uint32_t> Places(uint64_t seed, size_t count, uint32_t most) {
  Random random(seed);
  std::vector<uint32_t> places;
  uint64_t next = 0;
  while (places.size() < count) {
    uint64_t gap = random.Below(most);
    if (random.Below(50) == 0) {
      gap = (uint64_t{1} << random.Below(29)) - random.Below(2);
    }
    if (next + gap > 0xfffffffe) break;
    places.push_back(static_cast<uint32_t>(next + gap));
    next = places.back() + 1;
  }
  return places;
}

TEST(GapsTest, BytesAreThoseOfOneGapAfterAnotherOnEveryInstructionSet) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      const size_t count = 1 + seed % 71;
      for (const uint32_t most : {1u, 100u, 200u, 20000u}) {
        SCOPED_TRACE(testing::Message() << hwy::TargetName(target) << " seed "
                                        << seed << " most " << most);
        const std::vector<uint32_t> places = Places(seed, count, most);
        const std::vector<std::byte> expected = OneByOne(places);
        ASSERT_EQ(GapBytes(places), expected.size());
        std::vector<std::byte> bytes(expected.size() + 1, std::byte{0xaa});
        std::byte* const end = WriteGaps(places, bytes.data());
        EXPECT_EQ(end - bytes.data(), static_cast<ptrdiff_t>(expected.size()));
        EXPECT_EQ(bytes.back(), std::byte{0xaa});
        bytes.pop_back();
        EXPECT_EQ(bytes, expected);
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace skerry::compression::cpu
