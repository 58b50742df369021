#include "compression/top_k/cpu/stretch_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.h"
#include "compression/dense/cpu/int8_block.h"
#include "compression/testing/every_simd_target.h"
#include "compression/top_k/cpu/select.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

// Whole numbers up to 4 and their negatives, so that many equal a bound; of odd
// seeds, each scaled by a draw of its own.
std::vector<float> Draw(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.Below(9)) - 4.0f;
    if (seed % 2 == 1) value *= static_cast<float>(random.Uniform());
  }
  return values;
}

// The scale and codes of int8_block, whatever a block is, by its page.
struct Block {
  float scale = 0.0f;
  std::vector<int8_t> codes;
};
Block BlockOf(const std::vector<float>& values) {
  float absmax = 0.0f;
  for (const float value : values) absmax = std::max(absmax, std::abs(value));
  Block block;
  const bool zero = absmax < 0x1p-100f;
  if (!zero) block.scale = std::min(absmax / 127.0f, Int8Block::kScaleMax);
  for (const float value : values) {
    const float code = zero ? 0.0f : std::nearbyint(value * (127.0f / absmax));
    block.codes.push_back(static_cast<int8_t>(code));
  }
  return block;
}

std::vector<int8_t> CodesAt(const std::vector<std::byte>& bytes, size_t count) {
  std::vector<int8_t> codes(count);
  if (count > 0) std::memcpy(codes.data(), bytes.data(), count);
  return codes;
}

// A stretch, its codes and bits, and room for what may be sent of it.
struct Coded {
  explicit Coded(const std::vector<float>& values, float low, float high)
      : words(WordsOf(values.size())),
        codes(values.size() + kCodeSlack),
        open(WordsOf(values.size()) + 1),
        band(values.size() + kCodeSlack),
        stretch(CodeStretch(values, MagnitudeBits(low), MagnitudeBits(high),
                            Places())) {}

  StretchCodes Places() {
    return {words.data(), codes.data(), open.data(), band.data()};
  }

  std::vector<uint64_t> words;
  std::vector<std::byte> codes;
  std::vector<uint64_t> open;
  std::vector<float> band;
  CodedStretch stretch;
};

constexpr size_t kSizes[] = {1, 2, 15, 16, 63, 64, 65, 256, 700, 1024, 2048};

TEST(StretchCodesTest, CodesAreThoseOfABlockOfWhatMayBeSent) {
  OnEverySimdTarget([] {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      for (const size_t size : kSizes) {
        const std::vector<float> values = Draw(seed, size);
        for (const float low : {0.0f, 1.0f, 3.0f, 5.0f}) {
          const float high = std::max(low + 1.0f, 1.0f);
          SCOPED_TRACE(testing::Message()
                       << "seed " << seed << ", " << size << " from " << low);
          Coded coded(values, low, high);
          std::vector<float> found;
          std::vector<float> band;
          for (size_t i = 0; i < size; ++i) {
            const float magnitude = std::abs(values[i]);
            ASSERT_EQ(coded.words[i / 64] >> i % 64 & 1, magnitude >= low);
            if (magnitude < low) continue;
            ASSERT_EQ(coded.open[found.size() / 64] >> found.size() % 64 & 1,
                      magnitude < high);
            found.push_back(values[i]);
            if (magnitude < high) band.push_back(values[i]);
          }
          const Block expected = BlockOf(found);
          ASSERT_EQ(coded.stretch.found, found.size());
          ASSERT_EQ(coded.stretch.scale, expected.scale);
          ASSERT_TRUE(coded.stretch.finite);
          ASSERT_EQ(CodesAt(coded.codes, found.size()), expected.codes);
          ASSERT_EQ(coded.stretch.banded, band.size());
          ASSERT_TRUE(std::equal(band.begin(), band.end(), coded.band.begin()));
        }
      }
    }
  });
}

// Several stretches share one band, as those of a part do.
TEST(StretchCodesTest, WhatIsTakenIsWhatIsSentOneByOne) {
  OnEverySimdTarget([] {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const std::vector<float> values = Draw(seed, 3000);
      for (const size_t ties : {size_t{0}, size_t{3}, values.size()}) {
        std::vector<Coded> stretches;
        std::vector<float> band;
        for (size_t at = 0; at < values.size(); at += 1024) {
          const size_t end = std::min<size_t>(at + 1024, values.size());
          stretches.emplace_back(
              std::vector<float>(values.begin() + static_cast<ptrdiff_t>(at),
                                 values.begin() + static_cast<ptrdiff_t>(end)),
              1.0f, 3.0f);
          const Coded& coded = stretches.back();
          band.insert(band.end(), coded.band.begin(),
                      coded.band.begin() +
                          static_cast<ptrdiff_t>(coded.stretch.banded));
        }
        const size_t banded = band.size();
        band.resize(banded + 64);
        std::vector<uint64_t> kept(WordsOf(banded) + 1);
        ChooseBand({band.data(), banded}, MagnitudeBits(2.0f), ties,
                   kept.data());
        KeptBand in_band = {kept.data()};
        size_t left = ties;
        for (size_t at = 0; at < values.size(); at += 1024) {
          Coded& coded = stretches[at / 1024];
          std::vector<std::byte> taken(kStretchMost + kCodeSlack);
          const TakenCodes counts = TakeCodes(
              coded.Places(), coded.words.size(), in_band, taken.data());
          std::vector<int8_t> expected;
          size_t found = 0;
          for (size_t i = at; i < std::min<size_t>(at + 1024, values.size());
               ++i) {
            const float magnitude = std::abs(values[i]);
            const bool tie = magnitude == 2.0f && left > 0;
            const bool sent = magnitude > 2.0f || tie;
            left -= tie ? 1 : 0;
            ASSERT_EQ(coded.words[(i - at) / 64] >> i % 64 & 1, sent)
                << "seed " << seed << " at " << i;
            if (magnitude < 1.0f) continue;
            const auto code = static_cast<int8_t>(coded.codes[found++]);
            if (sent) expected.push_back(code);
          }
          ASSERT_EQ(counts.found, found);
          ASSERT_EQ(counts.sent, expected.size());
          ASSERT_EQ(CodesAt(taken, counts.sent), expected) << "seed " << seed;
        }
      }
    }
  });
}

TEST(StretchCodesTest, ValuesThatAreNotFiniteAreFound) {
  OnEverySimdTarget([] {
    for (const float wrong : {std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()}) {
      for (const size_t at : {size_t{0}, size_t{511}, size_t{699}}) {
        std::vector<float> values = Draw(1, 700);
        values[at] = wrong;
        EXPECT_FALSE(Coded(values, 1.0f, 2.0f).stretch.finite);
      }
    }
  });
}

TEST(StretchCodesTest, EncodedIsABlockAndDecodesToItsValues) {
  OnEverySimdTarget([] {
    for (const float size : {1.0f, 1e-31f, 8e37f}) {
      for (size_t count = 0; count <= kStretchMost; count += 1 + count / 3) {
        std::vector<float> values = Draw(count * 2 + 1, count);
        for (float& value : values) value *= size;
        const Block expected = BlockOf(values);
        std::vector<std::byte> codes(count + kCodeSlack);
        const float scale = EncodeStretch(values, codes.data());
        ASSERT_EQ(scale, expected.scale) << count << " of " << size;
        ASSERT_EQ(CodesAt(codes, count), expected.codes) << count;
        std::vector<float> decoded(count + kStretchSlack);
        ASSERT_TRUE(
            DecodeStretch({codes.data(), count}, scale, decoded.data()));
        for (size_t i = 0; i < count; ++i) {
          ASSERT_EQ(decoded[i], static_cast<float>(expected.codes[i]) * scale);
        }
      }
    }
  });
}

TEST(StretchCodesTest, ACodeThatIsNoneIsRefusedWhereverItIs) {
  OnEverySimdTarget([] {
    for (const size_t count : {1, 16, 63, 700}) {
      std::vector<float> decoded(count + kStretchSlack);
      std::vector<std::byte> codes(count, std::byte{0x81});
      EXPECT_TRUE(DecodeStretch(codes, 1.0f, decoded.data()));
      for (size_t at = 0; at < count; at += 1 + count / 7) {
        codes[at] = std::byte{0x80};
        EXPECT_FALSE(DecodeStretch(codes, 1.0f, decoded.data()))
            << at << " of " << count;
        codes[at] = std::byte{0x81};
      }
    }
  });
}

}  // namespace
}  // namespace skerry::compression::cpu
