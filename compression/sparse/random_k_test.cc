#include "compression/sparse/random_k.h"

#include <memory>
#include <vector>

#include "base/random.h"
#include "compression/sparse/sparse_codec.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

constexpr uint64_t kSeed = 4711;

std::unique_ptr<const Codec> Raw(double density, uint64_t seed = kSeed) {
  return *MakeRandomK({.density = density, .values = CodecId::kRawF32}, seed);
}

std::vector<float> Numbers(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i + 1);
  return values;
}

std::vector<float> Through(const Codec& codec,
                           const std::vector<float>& values) {
  std::vector<std::byte> payload;
  EXPECT_TRUE(codec.Encode(values, payload).ok());
  std::vector<float> decoded(values.size());
  EXPECT_TRUE(codec.Decode(payload, decoded).ok());
  return decoded;
}

// Draw d is from [floor(d n / k), floor((d + 1) n / k)), as the formats say.
TEST(RandomKTest, OneValueOfEachPartIsSentUnscaled) {
  using Wide = unsigned __int128;
  for (const size_t count : {1, 10, 4099, 70001}) {
    for (const double density : {0.001, 0.3, 1.0}) {
      const size_t draws = KeptElements(count, density);
      std::vector<float> expected(count, 0.0f);
      for (size_t draw = 0; draw < draws; ++draw) {
        const size_t begin = draw * count / draws;
        const size_t size = (draw + 1) * count / draws - begin;
        const size_t place =
            begin + static_cast<size_t>(
                        static_cast<Wide>(RandomAt(kSeed, draw)) * size >> 64);
        expected[place] = static_cast<float>(place + 1);
      }
      EXPECT_EQ(Through(*Raw(density), Numbers(count)), expected)
          << count << " at " << density;
    }
  }
}

TEST(RandomKTest, OfOneSeedThePlacesAreTheSameAndOfAnotherNot) {
  const std::vector<float> values = Numbers(1000);
  EXPECT_EQ(Through(*Raw(0.1), values), Through(*Raw(0.1), values));
  EXPECT_NE(Through(*Raw(0.1), values), Through(*Raw(0.1, kSeed + 1), values));
}

TEST(RandomKTest, WithAnotherSeedItIsTheCodecOfThatSeed) {
  const std::vector<float> values = Numbers(1000);
  const RandomK made = *RandomK::Make({0.1, CodecId::kRawF32}, 1);
  for (uint64_t step = 0; step < 5; ++step) {
    EXPECT_EQ(Through(made.WithSeed(step), values),
              Through(*Raw(0.1, step), values));
    EXPECT_EQ(made.WithSeed(step).MaxEncodedBytes(1000), 400u);
  }
  EXPECT_FALSE(RandomK::Make({0.0, CodecId::kRawF32}, 1).ok());
}

}  // namespace
}  // namespace skerry::compression
