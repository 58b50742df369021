#include "compression/top_k/cpu/marks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "compression/testing/every_simd_target.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

// At any place between lines of a cache, and nothing before or behind it.
void ExpectPut(const std::vector<uint64_t>& words,
               const std::vector<float>& values,
               const std::vector<float>& expected) {
  constexpr size_t kEdge = 16;
  for (const Stores stores : {Stores::kCached, Stores::kPastCaches}) {
    for (const size_t offset : {0, 1, 7, 15}) {
      std::vector<float> room(offset + expected.size() + kEdge, 7.0f);
      std::vector<float> filled = room;
      std::copy(expected.begin(), expected.end(), filled.begin() + offset);
      PutMarked(words.data(), values.data(),
                std::span(room).subspan(offset, expected.size()), stores);
      ASSERT_EQ(
          std::memcmp(room.data(), filled.data(), room.size() * sizeof(float)),
          0)
          << expected.size() << " values, " << offset << " on";
    }
  }
}

TEST(MarksTest, EverySimdTargetPutsValuesWhereBitsAreAndZerosElsewhere) {
  Random random(3);
  OnEverySimdTarget([&] {
    for (size_t count = 1; count < 300; ++count) {
      std::vector<uint64_t> words((count + 63) / 64);
      std::vector<float> values;
      std::vector<float> put(count, 0.0f);
      std::vector<float> before(count);
      for (size_t i = 0; i < count; ++i) {
        // Zeros of both signs are to stay what they are.
        before[i] = random.Below(3) == 0 ? -0.0f : 0.5f * static_cast<float>(i);
        if (random.Below(4) != 0) continue;
        words[i / 64] |= uint64_t{1} << (i % 64);
        put[i] = static_cast<float>(random.Below(1000)) - 500.5f;
        // A zero that is put is +0, and adds nothing.
        if (random.Below(8) == 0) put[i] = 0.0f;
        values.push_back(put[i] == 0.0f ? -0.0f : put[i]);
      }
      std::vector<float> added = before;
      for (size_t i = 0; i < count; ++i) {
        if (put[i] != 0.0f) added[i] += put[i];
      }
      ASSERT_EQ(CountMarks(words), values.size()) << count;
      values.resize(values.size() + kMarkedSlack, 1e30f);
      ExpectPut(words, values, put);
      std::vector<float> chunk = before;
      AddMarked(words.data(), values.data(), chunk);
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(std::bit_cast<uint32_t>(chunk[i]),
                  std::bit_cast<uint32_t>(added[i]))
            << i << " of " << count;
      }
    }
  });
}

}  // namespace
}  // namespace skerry::compression::cpu
