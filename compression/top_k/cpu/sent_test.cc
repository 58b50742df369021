#include "compression/top_k/cpu/sent.h"

#include <cmath>
#include <vector>

#include "base/random.h"
#include "compression/testing/every_simd_target.h"
#include "compression/top_k/cpu/gaps.h"
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
  std::vector<std::byte> gaps;
  uint32_t first = 0;
  uint32_t next = 0;
};

bool operator==(const Sent& a, const Sent& b) {
  return a.values == b.values && a.gaps == b.gaps && a.first == b.first &&
         a.next == b.next;
}

Sent OneByOne(const std::vector<float>& values, float above, size_t ties,
              size_t most) {
  Sent sent;
  for (size_t i = 0; i < values.size() && sent.values.size() < most; ++i) {
    const float size = std::abs(values[i]);
    if (size < above || (size == above && ties == 0)) continue;
    ties -= size == above ? 1 : 0;
    if (sent.values.empty()) {
      sent.first = static_cast<uint32_t>(i);
    } else {
      std::byte gap[9];
      sent.gaps.insert(sent.gaps.end(), gap, WriteGap(i - sent.next, gap));
    }
    sent.values.push_back(values[i]);
    sent.next = static_cast<uint32_t>(i + 1);
  }
  return sent;
}

// What reaches `low`.
struct Collected {
  Collected(const std::vector<float>& values, float low)
      : words((values.size() + kWordValues - 1) / kWordValues + 1),
        kept(values.size() + kCandidateSlack),
        found(CollectCandidates(values, MagnitudeBits(low), 0, 0,
                                candidates())) {}

  Candidates candidates() { return {words.data(), kept.data()}; }

  std::vector<uint64_t> words;
  std::vector<float> kept;
  size_t found;
};

Sent ReadAll(const std::vector<float>& values, float low, float above,
             size_t ties, size_t most) {
  Collected collected(values, low);
  const Candidates candidates = collected.candidates();
  const size_t count = collected.words.size() - 1;
  SentCursor cursor = {.left = most, .ties = ties};
  Sent sent;
  std::vector<std::byte> gaps(3 * values.size() + kCandidateSlack);
  std::byte* end = gaps.data();
  std::vector<float> step(kSentRoom);
  while (const size_t fresh = ReadSent(candidates, count, MagnitudeBits(above),
                                       cursor, step.data(), end)) {
    EXPECT_LE(fresh, kSentStep);
    sent.values.insert(sent.values.end(), step.begin(),
                       step.begin() + static_cast<ptrdiff_t>(fresh));
  }
  EXPECT_EQ(cursor.left, most - sent.values.size());
  sent.gaps.assign(gaps.data(), end);
  sent.first = cursor.first;
  sent.next = cursor.next;
  return sent;
}

Sent EveryPlace(const std::vector<float>& values, float low) {
  Collected collected(values, low);
  SentCursor cursor = {.left = collected.found};
  std::vector<std::byte> gaps(3 * values.size() + kCandidateSlack);
  std::byte* end = gaps.data();
  ReadEveryPlace(collected.candidates(), collected.words.size() - 1, cursor,
                 end);
  EXPECT_EQ(cursor.left, 0u);
  const auto found = static_cast<ptrdiff_t>(collected.found);
  return {{collected.kept.begin(), collected.kept.begin() + found},
          {gaps.data(), end},
          cursor.first,
          cursor.next};
}

TEST(SentTest, WhatIsReadIsWhatIsSentOneByOneOnEveryInstructionSet) {
  OnEverySimdTarget([&] {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      const uint64_t rare = uint64_t{1} << seed % 14;
      const size_t count = seed % 4 == 0 ? kPartMost : seed * 97 % 1000;
      const std::vector<float> values = Draw(seed, count, rare);
      for (const float above : {1.0f, 2.0f, 4.0f}) {
        ASSERT_EQ(EveryPlace(values, above),
                  OneByOne(values, above, count, count))
            << "seed " << seed << " above " << above;
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
