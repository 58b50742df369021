#include "compression/top_k/cpu/candidates.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/random.h"
#include "compression/testing/every_simd_target.h"
#include "compression/top_k/cpu/select.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

// Few magnitudes, so that many equal a bound.
std::vector<float> TiedValues(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.Below(9)) - 4.0f;
  }
  return values;
}

TEST(CandidatesTest, BitsAndValuesAreOfWhatReachesTheBound) {
  OnEverySimdTarget([] {
    for (uint64_t seed = 0; seed < 12; ++seed) {
      const std::vector<float> values =
          TiedValues(seed, seed * seed * 13 + seed % 3);
      const std::span<const float> all = values;
      const size_t cut = values.size() / 2 / kWordValues * kWordValues;
      for (const float low : {0.0f, 1.0f, 3.0f, 5.0f}) {
        const uint32_t bits = MagnitudeBits(low);
        std::vector<uint64_t> words(values.size() / kWordValues + 1, ~0ull);
        std::vector<float> kept(values.size() + kCandidateSlack);
        const Candidates to = {words.data(), kept.data()};
        // In two calls, cut between words.
        size_t found = CollectCandidates(all.first(cut), bits, 0, 0, to);
        found = CollectCandidates(all.subspan(cut), bits, cut / kWordValues,
                                  found, to);
        size_t expected = 0;
        for (size_t i = 0; i < values.size(); ++i) {
          const bool reaches = std::abs(values[i]) >= low;
          ASSERT_EQ(words[i / kWordValues] >> i % kWordValues & 1,
                    reaches ? 1 : 0)
              << "seed " << seed << ", " << low << " at " << i;
          if (reaches) {
            ASSERT_EQ(kept[expected++], values[i]);
          }
        }
        EXPECT_EQ(found, expected);
        if (const size_t rest = values.size() % kWordValues; rest > 0) {
          EXPECT_EQ(words[values.size() / kWordValues] >> rest, 0);
        }
      }
    }
  });
}

TEST(CandidatesTest, BandsHaveTheirLowerBoundAndNotTheUpper) {
  OnEverySimdTarget([] {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const std::vector<float> values = TiedValues(seed, 3 + 7 * seed);
      for (const float low : {0.0f, 1.0f, 2.0f, 3.0f}) {
        for (const float high : {low, low + 1.0f, low + 2.0f}) {
          std::vector<float> expected;
          std::vector<float> below;
          for (const float value : values) {
            const float size = std::abs(value);
            if (size < high) below.push_back(value);
            if (size >= low && size < high) expected.push_back(value);
          }
          std::vector<float> copied(values.size() + kCandidateSlack);
          bool finite = true;
          copied.resize(
              CopyBelow(values, MagnitudeBits(high), copied.data(), finite));
          EXPECT_TRUE(finite);
          EXPECT_EQ(copied, below);
          copied.resize(values.size() + kCandidateSlack);
          const Between between = CopyBetween(
              values, MagnitudeBits(low), MagnitudeBits(high), copied.data());
          copied.resize(between.copied);
          EXPECT_EQ(copied, expected) << low << " to " << high;
          EXPECT_EQ(between.above, values.size() - below.size());
        }
      }
    }
  });
}

TEST(CandidatesTest, CopyingSeesWhatIsNotFinite) {
  OnEverySimdTarget([] {
    for (const size_t at : {0, 5, 63, 99}) {
      std::vector<float> values(100, 1.0f);
      values[at] = at % 2 == 0 ? std::numeric_limits<float>::quiet_NaN()
                               : -std::numeric_limits<float>::infinity();
      std::vector<float> copied(values.size() + kCandidateSlack);
      bool finite = true;
      EXPECT_EQ(CopyBelow(values, MagnitudeBits(2.0f), copied.data(), finite),
                values.size() - 1);
      EXPECT_FALSE(finite) << at;
    }
  });
}

}  // namespace
}  // namespace skerry::compression::cpu
