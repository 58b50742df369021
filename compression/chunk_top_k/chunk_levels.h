// compression/chunk_top_k/chunk_levels.h
//
// Computes the four levels of a group of chunks. A level is the mean of the
// sent values in one of four bins, which are 1.5 standard deviations wide about
// the mean of all.
#ifndef SKERRY_COMPRESSION_CHUNK_TOP_K_CHUNK_LEVELS_H_
#define SKERRY_COMPRESSION_CHUNK_TOP_K_CHUNK_LEVELS_H_

#include <cstdint>

#include "compression/chunk_top_k/chunk_layout.h"
#include "compression/chunk_top_k/cpu/bins4.h"

namespace skerry::compression {

// The sums from which a group's levels are computed.
struct GroupSums {
  uint64_t count = 0;
  cpu::Moments moments;
  cpu::EdgeSums from;
};

// The edges of the bins; what lies outside takes the nearest bin. With no
// deviation all are in the third. Requires: count > 0.
cpu::BinEdges EdgesOf(const cpu::Moments& sent, size_t count);

// The mean of each bin's values; 0 of an empty one.
Book BookOf(const GroupSums& group);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_CHUNK_TOP_K_CHUNK_LEVELS_H_
