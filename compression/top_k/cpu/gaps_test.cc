#include "compression/top_k/cpu/gaps.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/random.h"
#include "compression/testing/every_simd_target.h"
#include "gtest/gtest.h"

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
  OnEverySimdTarget([&] {
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      const size_t count = 1 + seed % 71;
      for (const uint32_t most : {1u, 100u, 200u, 20000u}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << " most " << most);
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
  });
}

// What the gaps of `places` span: from the first place's on.
uint64_t SpanOf(const std::vector<uint32_t>& places) {
  return places.empty() ? 0 : places.back() - places.front();
}

TEST(GapsTest, WhatIsReadIsWhatWasWrittenAndAddsUp) {
  OnEverySimdTarget([&] {
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      for (const uint32_t most : {1u, 100u, 200u, 20000u}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << " most " << most);
        const std::vector<uint32_t> places = Places(seed, seed % 171, most);
        const std::vector<std::byte> bytes = OneByOne(places);
        const size_t gaps = places.empty() ? 0 : places.size() - 1;
        const uint64_t span = SpanOf(places);
        const auto sums = SumGaps(bytes, span);
        ASSERT_TRUE(sums.has_value());
        EXPECT_EQ(sums->gaps, gaps);
        EXPECT_EQ(sums->places, span);
        if (gaps == 0) continue;
        EXPECT_FALSE(SumGaps(bytes, span - 1).has_value());

        std::vector<uint64_t> read(gaps);
        std::span<const std::byte> rest = bytes;
        uint64_t next = places.front() + 1;
        const uint64_t end = uint64_t{places.back()} + 1;
        ASSERT_TRUE(ReadGaps(rest, end, next, read));
        EXPECT_TRUE(rest.empty());
        EXPECT_EQ(next, end);
        EXPECT_TRUE(std::equal(read.begin(), read.end(), places.begin() + 1));
        rest = bytes;
        next = places.front() + 1;
        EXPECT_FALSE(ReadGaps(rest, end - 1, next, read));
      }
    }
  });
}

TEST(GapsTest, WhatIsNoShortestVarintIsRefusedWhereverItIs) {
  std::vector<std::vector<uint8_t>> broken = {
      {0x80},        // does not end
      {0x80, 0x00},  // the second byte adds nothing
      {0xff, 0xff, 0x00},
      {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
  };
  OnEverySimdTarget([&] {
    for (const std::vector<uint8_t>& one : broken) {
      for (size_t before = 0; before < 140; ++before) {
        std::vector<std::byte> bytes(before, std::byte{3});
        for (const uint8_t byte : one) {
          bytes.push_back(static_cast<std::byte>(byte));
        }
        EXPECT_FALSE(SumGaps(bytes, uint64_t{1} << 60).has_value()) << before;
        std::vector<uint64_t> places(before + 1);
        std::span<const std::byte> rest = bytes;
        uint64_t next = 0;
        EXPECT_FALSE(ReadGaps(rest, uint64_t{1} << 60, next, places));
        if (one.size() == 1) continue;  // it would end in what follows
        bytes.resize(bytes.size() + 70, std::byte{5});
        EXPECT_FALSE(SumGaps(bytes, uint64_t{1} << 60).has_value()) << before;
        places.resize(before + 50);
        rest = bytes;
        next = 0;
        EXPECT_FALSE(ReadGaps(rest, uint64_t{1} << 60, next, places));
      }
    }
  });
}

}  // namespace
}  // namespace skerry::compression::cpu
