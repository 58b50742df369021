#include "compression/chunk_top_k/chunk_levels.h"

#include <cmath>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

// What an encoder has summed of these values.
GroupSums SumsOf(const std::vector<float>& values) {
  GroupSums sums;
  sums.count = values.size();
  for (const float value : values) {
    sums.moments.sum += value;
    sums.moments.squares += static_cast<double>(value) * value;
  }
  const cpu::BinEdges edges = EdgesOf(sums.moments, sums.count);
  for (const float value : values) {
    for (size_t edge = 0; edge < edges.size(); ++edge) {
      if (value < edges[edge]) continue;
      sums.from.sums[edge] += value;
      ++sums.from.counts[edge];
    }
  }
  return sums;
}

TEST(ChunkLevelsTest, BinsAreThoseOfTheirDefinition) {
  Random random(3);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<float> values(1 + random.Below(500));
    for (float& value : values) {
      value = static_cast<float>((random.Uniform() - 0.4) /
                                 (0.1 + random.Uniform()));
    }
    const GroupSums sums = SumsOf(values);
    const double count = static_cast<double>(values.size());
    const double mean = sums.moments.sum / count;
    const double width =
        1.5 *
        std::sqrt(std::max(0.0, sums.moments.squares / count - mean * mean));
    double of_bin[4] = {};
    double in_bin[4] = {};
    for (const float value : values) {
      const double from_mean = value - mean;
      const int bin = width == 0.0 ? 2
                                   : (from_mean >= -width) + (from_mean >= 0) +
                                         (from_mean >= width);
      of_bin[bin] += value;
      in_bin[bin] += 1;
    }
    const Book book = BookOf(sums);
    for (size_t bin = 0; bin < book.size(); ++bin) {
      const double expected = in_bin[bin] == 0 ? 0 : of_bin[bin] / in_bin[bin];
      EXPECT_NEAR(book[bin], expected, 1e-5 * std::fabs(expected) + 1e-9)
          << trial << ", bin " << bin;
    }
  }
}

TEST(ChunkLevelsTest, EqualValuesAreAllInTheThirdBin) {
  const Book book = BookOf(SumsOf(std::vector<float>(7, -2.5f)));
  EXPECT_EQ(book, (Book{0.0f, 0.0f, -2.5f, 0.0f}));
}

}  // namespace
}  // namespace skerry::compression
