// compression/chunk_top_k/cpu/bins4.h
//
// Sorts values into four bins, and sums them in an order that no vector length
// changes. Value i is added to sum i % 16, then the second half of the sums is
// added to the first until one is left.
#ifndef SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_BINS4_H_
#define SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_BINS4_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace skerry::compression::cpu {

inline constexpr size_t kBins = 4;
// Values that are summed at once.
inline constexpr size_t kBinnedMost = 4096;
// What follows them in memory, whatever it is.
inline constexpr size_t kBinnedSlack = 64;

struct Moments {
  double sum = 0.0;
  double squares = 0.0;
};

// Writes zeros behind the values. Requires: finite values, count <=
// kBinnedMost, and room for kBinnedSlack more.
Moments MomentsOf(float* values, size_t count);

// The least values of bins 1, 2 and 3. They ascend, and are infinite where a
// bin is empty.
using BinEdges = std::array<float, kBins - 1>;

// Sums and counts of the values in bin 1 or above, in bin 2 or above, and in
// bin 3.
struct EdgeSums {
  std::array<double, kBins - 1> sums{};
  std::array<uint64_t, kBins - 1> counts{};
};

// Writes the bin of each value, four a byte, lowest bits first; the rest of the
// last byte is 0. Requires: as MomentsOf, which wrote the zeros behind.
EdgeSums BinAll(const float* values, size_t count, const BinEdges& edges,
                std::byte* codes);

// Turns codes as BinAll writes them into the level of each. False where the
// rest of the last byte is not 0. Reads nothing behind that byte; may write
// kBinnedSlack levels more than `count`.
bool LevelsOf(const std::byte* codes, size_t count,
              const std::array<float, kBins>& levels, float* values);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_BINS4_H_
