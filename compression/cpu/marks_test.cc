#include "compression/cpu/marks.h"

#include <bit>
#include <vector>

#include "base/random.h"
#include "compression/cpu/testing/every_simd_target.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

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
        values.push_back(put[i]);
      }
      std::vector<float> added = before;
      for (size_t i = 0; i < count; ++i) {
        if (put[i] != 0.0f) added[i] += put[i];
      }
      ASSERT_EQ(CountMarks(words), values.size()) << count;
      values.resize(values.size() + kMarkedSlack, 1e30f);
      std::vector<float> chunk(count, 7.0f);
      PutMarked(words.data(), values.data(), chunk);
      ASSERT_EQ(chunk, put) << count;
      chunk = before;
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
