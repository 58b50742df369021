// compression/dense/cpu/nf4_midpoints.h
//
// Gives the midpoints between the levels of NF4, in the order in which vectors
// look them up.
#ifndef SKERRY_COMPRESSION_DENSE_CPU_NF4_MIDPOINTS_H_
#define SKERRY_COMPRESSION_DENSE_CPU_NF4_MIDPOINTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "compression/dense/cpu/levels4.h"

namespace skerry::compression::cpu {

// Midpoint `i` is between the levels i and i + 1.
constexpr float Nf4Midpoint(size_t i) {
  return (kNf4Levels.values[i] + kNf4Levels.values[i + 1]) * 0.5f;
}

// What the last two of four halvings compare with, by the code's upper bits;
// again and again for vectors of 16 lanes.
using Midpoints = std::array<float, 16>;
constexpr Midpoints MidpointsOf(size_t first, size_t stride, size_t count) {
  Midpoints midpoints{};
  for (size_t i = 0; i < midpoints.size(); ++i) {
    midpoints[i] = Nf4Midpoint(first + stride * (i % count));
  }
  return midpoints;
}
alignas(64) inline constexpr Midpoints kNf4ThirdHalving = MidpointsOf(1, 4, 4);
alignas(64) inline constexpr Midpoints kNf4FourthHalving = MidpointsOf(0, 2, 8);

// The range of values is cut into cells of width 1/15 about the multiples of
// 1/15. Each cell has at most one midpoint, far from its ends. So a value's
// code is the number of midpoints below its cell, and one more if the value is
// above the cell's own midpoint. A cell's index is its multiple modulo 32.
struct Nf4Cells {
  float midpoint[32];
  int32_t below[32];
};
constexpr Nf4Cells CellsOfNf4() {
  Nf4Cells cells{};
  for (int i = 0; i < 32; ++i) {
    const int multiple = i < 16 ? i : i - 32;
    const float low = (static_cast<float>(multiple) - 0.5f) / 15.0f;
    const float high = (static_cast<float>(multiple) + 0.5f) / 15.0f;
    cells.midpoint[i] = std::numeric_limits<float>::infinity();
    for (size_t m = 0; m < 15; ++m) {
      const float midpoint = Nf4Midpoint(m);
      if (midpoint < low) ++cells.below[i];
      if (midpoint >= low && midpoint <= high) cells.midpoint[i] = midpoint;
    }
  }
  return cells;
}
alignas(64) inline constexpr Nf4Cells kNf4Cells = CellsOfNf4();

// The same by the lowest six bits of a cell, and where those are in two vectors
// of 16 cells.
using Bytes64 = std::array<uint8_t, 64>;
constexpr Bytes64 BelowOfNf4() {
  Bytes64 below{};
  for (size_t i = 0; i < below.size(); ++i) {
    below[i] = static_cast<uint8_t>(kNf4Cells.below[i % 32]);
  }
  return below;
}
constexpr Bytes64 LowestBytes() {
  Bytes64 places{};
  for (size_t i = 0; i < 32; ++i) places[i] = static_cast<uint8_t>(4 * i);
  return places;
}
alignas(64) inline constexpr Bytes64 kNf4Below = BelowOfNf4();
alignas(64) inline constexpr Bytes64 kLowestBytes = LowestBytes();

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_DENSE_CPU_NF4_MIDPOINTS_H_
