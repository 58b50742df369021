// compression/cpu/bins4.h
//
// Values in four bins, and sums over them in an order that no vector length
// changes: value i is in sum i % 16, and the second half of these is added to
// the first until one is left.
#ifndef SKERRY_COMPRESSION_CPU_BINS4_H_
#define SKERRY_COMPRESSION_CPU_BINS4_H_

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

// The least values of bins 1, 2 and 3. Ascend; infinite where a bin is empty.
using BinEdges = std::array<float, kBins - 1>;

// Of the values from the least of bin 1 on, of bin 2 and of bin 3.
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

#endif  // SKERRY_COMPRESSION_CPU_BINS4_H_
