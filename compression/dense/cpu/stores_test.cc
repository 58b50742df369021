#include "compression/dense/cpu/stores.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.h"
#include "compression/dense/cpu/bf16.h"
#include "compression/dense/cpu/block4.h"
#include "compression/dense/cpu/fp16.h"
#include "compression/dense/cpu/int8_block.h"
#include "compression/dense/cpu/lloyd2.h"
#include "compression/dense/cpu/raw_f32.h"
#include "compression/dense/cpu/sign1.h"
#include "compression/testing/every_simd_target.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

constexpr std::byte kUntouched{0xa5};

std::vector<float> Draw(size_t count) {
  Random random(count);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform()) - 0.5f;
  }
  return values;
}

template <typename Kernels>
class StoresTest : public testing::Test {
 public:
  // Sizes of less than a tile, of some, and of a block that is cut.
  static constexpr size_t kCounts[] = {1, 300, 16384, 70001};

  // The payload at any address, and what stands before and behind it.
  static std::vector<std::byte> Encoded(const std::vector<float>& values,
                                        size_t offset, Stores stores) {
    std::vector<std::byte> room(Kernels::Bytes(values.size()) + 2 * offset,
                                kUntouched);
    EXPECT_TRUE(Kernels::EncodeBlocks(values, 0, values.size(),
                                      room.data() + offset, stores));
    return room;
  }
  static std::vector<float> Decoded(const std::byte* payload, size_t count,
                                    size_t offset, Stores stores) {
    std::vector<float> room(count + 2 * offset, 7.0f);
    EXPECT_TRUE(Kernels::DecodeBlocks(
        payload, 0, count, std::span(room).subspan(offset, count), stores));
    return room;
  }
};

using AllKernels = testing::Types<RawF32, Bf16, Fp16, Int8Block, Sign1, Lloyd2,
                                  Nf4, Nf4F32, E3m0, E3m0F32>;
TYPED_TEST_SUITE(StoresTest, AllKernels);

// The reference is what the best set of instructions stores in the caches.
// Every set has to store the same, past the caches as well.
TYPED_TEST(StoresTest, PayloadsPastTheCachesAreTheSameAtEveryVectorLength) {
  for (const size_t count : TestFixture::kCounts) {
    const std::vector<float> values = Draw(count);
    for (const size_t offset : {0, 1, 4, 12, 60}) {
      const auto expected = this->Encoded(values, offset, Stores::kCached);
      OnEverySimdTarget([&] {
        for (const Stores stores : {Stores::kCached, Stores::kPastCaches}) {
          EXPECT_EQ(this->Encoded(values, offset, stores), expected)
              << count << " values, " << offset << " bytes on";
        }
      });
    }
  }
}

TYPED_TEST(StoresTest, ValuesPastTheCachesAreTheSameAtEveryVectorLength) {
  for (const size_t count : TestFixture::kCounts) {
    const auto payload = this->Encoded(Draw(count), 0, Stores::kCached);
    for (size_t offset = 0; offset < 17; ++offset) {
      const auto expected =
          this->Decoded(payload.data(), count, offset, Stores::kCached);
      OnEverySimdTarget([&] {
        const auto past =
            this->Decoded(payload.data(), count, offset, Stores::kPastCaches);
        EXPECT_EQ(std::memcmp(past.data(), expected.data(),
                              expected.size() * sizeof(float)),
                  0)
            << count << " values, " << offset << " floats on";
      });
    }
  }
}

TYPED_TEST(StoresTest, WhatIsNotFiniteIsRefusedInEveryTile) {
  constexpr size_t kCount = 70001;
  std::vector<std::byte> payload(TypeParam::Bytes(kCount));
  for (const size_t at : {0, 40000, 70000}) {
    std::vector<float> values(kCount, 1.0f);
    values[at] = std::numeric_limits<float>::infinity();
    OnEverySimdTarget([&] {
      EXPECT_FALSE(TypeParam::EncodeBlocks(values, 0, kCount, payload.data(),
                                           Stores::kPastCaches))
          << at;
    });
  }
}

TEST(StoresChoiceTest, ABrokenCodeIsRefusedInATile) {
  constexpr size_t kCount = 70001;
  const std::vector<float> values(kCount, 1.0f);
  std::vector<std::byte> payload(Int8Block::Bytes(kCount));
  ASSERT_TRUE(Int8Block::Encode(values, payload.data()));
  payload[Int8Block::ScaleBytes(kCount) + 40000] = std::byte{0x80};
  std::vector<float> decoded(kCount);
  OnEverySimdTarget([&] {
    EXPECT_FALSE(Int8Block::DecodeBlocks(payload.data(), 0, kCount, decoded,
                                         Stores::kPastCaches));
  });
}

TEST(StoresChoiceTest, ResultsOfMoreThanTheCachesGoPastThem) {
  EXPECT_EQ(StoresForCodes(kCachedCodeBytesMax), Stores::kCached);
  EXPECT_EQ(StoresForCodes(kCachedCodeBytesMax + 1), Stores::kPastCaches);
  EXPECT_EQ(StoresForValues(kCachedValueBytesMax), Stores::kCached);
  EXPECT_EQ(StoresForValues(kCachedValueBytesMax + 1), Stores::kPastCaches);
}

// Whoever reads them next then finds as much at any place.
TEST(StoresChoiceTest, OfLongerValuesAsManyAsFitGoThroughTheCachesEvenly) {
  constexpr size_t kPartBytes = size_t{256} << 10;
  constexpr size_t kMost = kCachedValueBytesMax / kPartBytes;
  for (const size_t parts : {size_t{0}, kMost, kMost + 1, size_t{160},
                             size_t{256}, size_t{1001}, size_t{32768}}) {
    const size_t expected = std::min(parts, kMost);
    size_t cached = 0;
    for (size_t i = 0; i < parts; ++i) {
      cached += StoresForPart(parts * kPartBytes, i) == Stores::kCached ? 1 : 0;
      // One more than their share at most.
      EXPECT_EQ(cached, i * expected / parts + 1) << i << " of " << parts;
    }
    EXPECT_EQ(cached, expected) << parts << " parts";
  }
}

}  // namespace
}  // namespace skerry::compression::cpu
