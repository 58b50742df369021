#include "compression/top_k/cpu/sent_marks.h"

#include <cmath>
#include <vector>

#include "base/random.h"
#include "compression/testing/every_simd_target.h"
#include "compression/top_k/cpu/select.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

constexpr size_t kPartMost = size_t{1} << 16;

// One value in `rare` is not 0 but a whole number up to 4, or its negative.
std::vector<float> Draw(uint64_t seed, size_t count, uint64_t rare) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    if (random.Below(rare) > 0) continue;
    value = static_cast<float>(random.Below(9)) - 4.0f;
  }
  return values;
}

struct Sent {
  std::vector<float> values;
  std::vector<bool> marks;
  friend bool operator==(const Sent&, const Sent&) = default;
};

Sent OneByOne(const std::vector<float>& values, float above, size_t ties,
              size_t most) {
  Sent sent;
  for (const float value : values) {
    const float size = std::abs(value);
    const bool is_sent = sent.values.size() < most &&
                         (size > above || (size == above && ties > 0));
    sent.marks.push_back(is_sent);
    if (!is_sent) continue;
    ties -= size == above ? 1 : 0;
    sent.values.push_back(value);
  }
  return sent;
}

Sent ReadAll(const std::vector<float>& values, float low, float above,
             size_t ties, size_t most) {
  const size_t count = (values.size() + kWordValues - 1) / kWordValues;
  std::vector<uint64_t> words(count + 1);
  std::vector<float> kept(values.size() + kCandidateSlack);
  const Candidates candidates = {words.data(), kept.data()};
  CollectCandidates(values, MagnitudeBits(low), 0, 0, candidates);
  SentCursor cursor = {.left = most, .ties = ties};
  Sent sent;
  std::vector<float> step(kSentRoom);
  while (const size_t fresh = ReadSentMarks(
             candidates, count, MagnitudeBits(above), cursor, step.data())) {
    EXPECT_LE(fresh, kSentStep);
    sent.values.insert(sent.values.end(), step.begin(),
                       step.begin() + static_cast<ptrdiff_t>(fresh));
  }
  EXPECT_EQ(cursor.left, most - sent.values.size());
  EXPECT_EQ(cursor.word, count);
  for (size_t i = 0; i < values.size(); ++i) {
    sent.marks.push_back(words[i / kWordValues] >> i % kWordValues & 1);
  }
  return sent;
}

TEST(SentMarksTest, WhatIsReadIsWhatIsSentOneByOne) {
  OnEverySimdTarget([] {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      const uint64_t rare = uint64_t{1} << seed % 14;
      const size_t count = seed % 4 == 0 ? kPartMost : seed * 97 % 1000;
      const std::vector<float> values = Draw(seed, count, rare);
      for (const float above : {1.0f, 2.0f, 4.0f}) {
        for (const size_t ties : {size_t{0}, size_t{3}, count}) {
          for (const size_t most : {size_t{0}, size_t{70}, count}) {
            ASSERT_EQ(ReadAll(values, 1.0f, above, ties, most),
                      OneByOne(values, above, ties, most))
                << "seed " << seed << " above " << above << " ties " << ties
                << " most " << most;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace skerry::compression::cpu
