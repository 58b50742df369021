#include "compression/cpu/candidates.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/random.h"
#include "compression/cpu/select.h"
#include "compression/cpu/testing/every_simd_target.h"
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

std::vector<float> Those(const std::vector<float>& values, float low,
                         float high) {
  std::vector<float> some;
  for (const float value : values) {
    if (std::abs(value) >= low && std::abs(value) < high) {
      some.push_back(value);
    }
  }
  return some;
}

TEST(CandidatesTest, BitsAndValuesAreOfWhatReachesTheBound) {
  OnEverySimdTarget([] {
    for (uint64_t seed = 0; seed < 12; ++seed) {
      const std::vector<float> values =
          TiedValues(seed, seed * seed * 13 + seed % 3);
      const std::span<const float> all = values;
      const size_t cut = values.size() / 2 / kWordValues * kWordValues;
      for (const float low : {0.0f, 1.0f, 3.0f, 5.0f}) {
        const float high = low + static_cast<float>(seed % 3);
        std::vector<uint64_t> words(values.size() / kWordValues + 1, ~0ull);
        std::vector<float> kept(values.size() + kCandidateSlack);
        std::vector<float> banded(values.size() + kCandidateSlack);
        const Candidates to = {words.data(), kept.data()};
        Band band = {banded.data()};
        const auto collect = [&](std::span<const float> some, size_t word,
                                 size_t found) {
          return CollectCandidates(some, MagnitudeBits(low),
                                   MagnitudeBits(high), word, found, to, band);
        };
        // In two calls, cut between words.
        size_t found = collect(all.first(cut), 0, 0);
        found = collect(all.subspan(cut), cut / kWordValues, found);
        for (size_t i = 0; i < values.size(); ++i) {
          ASSERT_EQ(words[i / kWordValues] >> i % kWordValues & 1,
                    std::abs(values[i]) >= low ? 1 : 0)
              << "seed " << seed << ", " << low << " at " << i;
        }
        kept.resize(found);
        banded.resize(band.count);
        EXPECT_EQ(kept, Those(values, low, 1e9f));
        EXPECT_EQ(banded, Those(values, low, high));
        EXPECT_TRUE(band.finite);
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
          std::vector<float> copied(values.size() + kCandidateSlack);
          const Between between = CopyBetween(
              values, MagnitudeBits(low), MagnitudeBits(high), copied.data());
          copied.resize(between.copied);
          EXPECT_EQ(copied, Those(values, low, high)) << low << ", " << high;
          EXPECT_EQ(between.above, Those(values, high, 1e9f).size());
        }
      }
    }
  });
}

TEST(CandidatesTest, CollectingSeesWhatIsNotFinite) {
  OnEverySimdTarget([] {
    for (const size_t at : {0, 5, 63, 64, 99}) {
      std::vector<float> values(100, 1.0f);
      values[at] = at % 2 == 0 ? std::numeric_limits<float>::quiet_NaN()
                               : -std::numeric_limits<float>::infinity();
      std::vector<uint64_t> words(2);
      std::vector<float> kept(values.size() + kCandidateSlack);
      std::vector<float> banded(values.size() + kCandidateSlack);
      for (const float low : {0.5f, 2.0f}) {
        Band band = {banded.data()};
        CollectCandidates(values, MagnitudeBits(low), MagnitudeBits(3.0f), 0, 0,
                          {words.data(), kept.data()}, band);
        EXPECT_FALSE(band.finite) << at;
        EXPECT_EQ(band.count, low < 1.0f ? values.size() - 1 : 0);
      }
    }
  });
}

}  // namespace
}  // namespace skerry::compression::cpu
