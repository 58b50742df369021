#include "data/sample_order.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

TEST(KeyedPermutationPropertyTest, IsABijectionForEveryCount) {
  std::vector<uint64_t> counts = {4095, 4096, 4097, 10007, 65536, 65537};
  for (uint64_t count = 1; count <= 300; ++count) counts.push_back(count);
  for (const uint64_t count : counts) {
    SCOPED_TRACE(absl::StrCat("count ", count, " key ", count * 31));
    const KeyedPermutation permutation(count, count * 31);
    std::vector<bool> seen(count, false);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t value = permutation(i);
      ASSERT_LT(value, count);
      ASSERT_FALSE(seen[value]);
      seen[value] = true;
    }
  }
}

TEST(KeyedPermutationTest, ReachesTheLargestCounts) {
  const uint64_t count = uint64_t{1} << 62;
  const KeyedPermutation permutation(count, 1);
  EXPECT_LT(permutation(count - 1), count);
  EXPECT_NE(permutation(0), permutation(1));
}

// A sample that would stay near its neighbours makes batches of one document.
TEST(KeyedPermutationTest, NeighboursAreScattered) {
  constexpr uint64_t kCount = 100000;
  const KeyedPermutation permutation(kCount, 5);
  double distance = 0;
  for (uint64_t i = 0; i + 1 < kCount; ++i) {
    const double a = static_cast<double>(permutation(i));
    const double b = static_cast<double>(permutation(i + 1));
    distance += a > b ? a - b : b - a;
  }
  // Two independent uniform draws lie a third of the range apart on average.
  EXPECT_NEAR(distance / kCount / kCount, 1.0 / 3, 0.01);
}

TEST(KeyedPermutationTest, FirstPlaceIsUniformOverKeys) {
  constexpr int kCount = 10;
  int hits[kCount] = {};
  for (uint64_t key = 0; key < 20000; ++key) {
    ++hits[KeyedPermutation(kCount, key)(0)];
  }
  for (const int hit : hits) EXPECT_NEAR(hit, 2000, 250);
}

TEST(SampleOrderTest, EveryEpochVisitsEverySampleInAnOrderOfItsOwn) {
  constexpr uint64_t kSamples = 101;
  const SampleOrder order(kSamples, 42);
  std::vector<uint64_t> first;
  std::vector<uint64_t> second;
  for (uint64_t p = 0; p < 2 * kSamples; ++p) {
    const SamplePlace place = order.At(p);
    EXPECT_EQ(place.epoch, p / kSamples);
    (place.epoch == 0 ? first : second).push_back(place.sample);
  }
  EXPECT_NE(first, second);
  EXPECT_EQ(std::vector<bool>(kSamples, true), [&] {
    std::vector<bool> seen(kSamples, false);
    for (const uint64_t sample : second) seen[sample] = true;
    return seen;
  }());
}

TEST(SampleOrderTest, SameSeedSameOrderOtherSeedOtherOrder) {
  int differing = 0;
  for (uint64_t p = 0; p < 1000; ++p) {
    EXPECT_EQ(SampleOrder(500, 7).At(p), SampleOrder(500, 7).At(p));
    differing += !(SampleOrder(500, 7).At(p) == SampleOrder(500, 8).At(p));
  }
  EXPECT_GT(differing, 900);
}

// Programs in other languages are compared with the same file
// (python/tests/ledger_test.py).
TEST(SampleOrderTest, GivesTheSamplesOfTheGoldenFile) {
  std::ifstream file("data/testdata/sample_order.golden");
  int compared = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    uint64_t samples = 0;
    uint64_t seed = 0;
    uint64_t position = 0;
    uint64_t sample = 0;
    ASSERT_TRUE(words >> samples >> seed >> position >> sample) << line;
    EXPECT_EQ(SampleOrder(samples, seed).At(position),
              (SamplePlace{position / samples, sample}))
        << line;
    ++compared;
  }
  EXPECT_GE(compared, 100);
}

}  // namespace
}  // namespace skerry::data
