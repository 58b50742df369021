// compression/sparse/chunk_levels.h
//
// The four levels of what a group of chunks sends: means of bins of 1.5
// standard deviations about the mean.
#ifndef SKERRY_COMPRESSION_SPARSE_CHUNK_LEVELS_H_
#define SKERRY_COMPRESSION_SPARSE_CHUNK_LEVELS_H_

#include <cstdint>

#include "compression/cpu/bins4.h"
#include "compression/sparse/chunk_layout.h"

namespace skerry::compression {

// What makes up the levels of a group.
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

#endif  // SKERRY_COMPRESSION_SPARSE_CHUNK_LEVELS_H_
