// compression/workspace.h
//
// What a codec needs beside its input and output: who runs its loops, and
// memory that lasts from call to call, so that a codec that is called again and
// again with slices of one size allocates nothing.
#ifndef SKERRY_COMPRESSION_WORKSPACE_H_
#define SKERRY_COMPRESSION_WORKSPACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/executor.h"

namespace skerry::compression {

// What one part of a slice sends, or may yet.
struct PartScratch {
  std::vector<uint32_t> places;  // from the part's first value, ascending
  std::vector<float> values;     // there
  size_t ties = 0;
  size_t at = 0;        // how many values other parts send before
  size_t next = 0;      // the place after the last that is sent before
  size_t bytes_at = 0;  // of the part's places in the payload
};

// Keeps no state, so everybody can use the one there is.
inline ParallelExecutor& CallingThread() {
  static InlineExecutor executor;
  return executor;
}

// One call at a time. What a call finds in the memory, or leaves there, is of
// no meaning to the next.
struct Workspace {
  Workspace() : executor(&CallingThread()) {}
  // Requires: `loops` outlives this, and nobody else runs loops on it
  // meanwhile.
  explicit Workspace(ParallelExecutor& loops) : executor(&loops) {}

  ParallelExecutor* executor;

  std::vector<PartScratch> parts;  // may be more than a call uses
  std::vector<uint64_t> indices;
  std::vector<uint32_t> places;
  std::vector<float> values;
  std::vector<float> band;  // of values that a closer look decides about
  std::vector<std::byte> bytes;
  std::vector<double> sums;
};

// The calling thread's own, for tasks that run wherever a thread is free. Keeps
// the memory of the largest slice that the thread has worked on.
inline Workspace& ThreadWorkspace() {
  thread_local Workspace workspace;
  return workspace;
}

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_WORKSPACE_H_
