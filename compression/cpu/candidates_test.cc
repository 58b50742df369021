#include "compression/cpu/candidates.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/random.h"
#include "compression/cpu/select.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"

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

template <typename Check>
void OnEveryInstructionSet(const Check& check) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(CandidatesTest, WhatIsKeptOfRunsIsWhatReachesTheBound) {
  OnEveryInstructionSet([] {
    for (uint64_t seed = 0; seed < 12; ++seed) {
      const std::vector<float> values =
          TiedValues(seed, seed * seed * 13 + seed % 3);
      const size_t runs = (values.size() + kRunElements - 1) / kRunElements;
      for (const float low : {0.0f, 1.0f, 3.0f, 5.0f}) {
        std::vector<uint8_t> places8(values.size() + kCandidateSlack);
        std::vector<float> kept(values.size() + kCandidateSlack);
        std::vector<uint32_t> ends(runs + 1);
        const Candidates candidates = {places8.data(), kept.data(),
                                       ends.data()};
        // In two calls, cut between runs.
        const size_t half = runs / 2;
        const size_t cut = half * kRunElements;
        const std::span<const float> all = values;
        CollectRuns(all.first(cut), MagnitudeBits(low), 0, candidates);
        CollectRuns(all.subspan(cut), MagnitudeBits(low), half, candidates);
        for (const float bound : {low, low + 1.0f}) {
          std::vector<uint32_t> expected;
          for (size_t i = cut; i < values.size(); ++i) {
            if (std::abs(values[i]) >= bound) expected.push_back(i);
          }
          std::vector<uint32_t> places(values.size() + kCandidateSlack);
          std::vector<float> found(values.size() + kCandidateSlack);
          places.resize(KeepOfRuns(candidates, half, runs, MagnitudeBits(bound),
                                   places.data(), found.data()));
          ASSERT_EQ(places, expected) << "seed " << seed << ", " << bound;
          for (size_t i = 0; i < places.size(); ++i) {
            EXPECT_EQ(found[i], values[places[i]]);
          }
        }
      }
    }
  });
}

TEST(CandidatesTest, BandsHaveTheirLowerBoundAndNotTheUpper) {
  OnEveryInstructionSet([] {
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
          std::vector<float> kept = values;
          kept.resize(
              KeepBetween(kept, MagnitudeBits(low), MagnitudeBits(high)));
          EXPECT_EQ(kept, expected) << low << " to " << high;
        }
      }
    }
  });
}

TEST(CandidatesTest, CopyingSeesWhatIsNotFinite) {
  OnEveryInstructionSet([] {
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
