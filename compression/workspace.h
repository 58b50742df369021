// compression/workspace.h
//
// A workspace is what a codec needs beside its input and output: an executor
// for its loops, and memory that lasts from call to call. So a codec that is
// called again and again with slices of one size allocates nothing.
#ifndef SKERRY_COMPRESSION_WORKSPACE_H_
#define SKERRY_COMPRESSION_WORKSPACE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/executor.h"

namespace skerry::compression {

// Memory for `T`s that is not initialised and not touched before it is used. A
// copy has no memory yet.
template <typename T>
class RawMemory {
 public:
  RawMemory() = default;
  RawMemory(const RawMemory&) {}
  RawMemory(RawMemory&&) = default;
  RawMemory& operator=(const RawMemory&) { return *this; }
  RawMemory& operator=(RawMemory&&) = default;

  // Room for `needed`, of which the first `kept` stay.
  T* Room(size_t needed, size_t kept = 0) {
    if (needed > room()) {
      auto larger = std::make_unique_for_overwrite<T[]>(needed);
      std::copy_n(memory_.get(), kept, larger.get());
      memory_ = std::move(larger);
      room_ = needed;
    }
    return memory_.get();
  }
  // Room for `needed`: `usual` to begin with, and twice as much as needed then,
  // so that growing again and again moves little. The first `kept` stay.
  T* Grow(size_t needed, size_t usual, size_t kept) {
    if (needed <= room()) return get();
    return Room(needed > usual ? 2 * needed : usual, kept);
  }
  T* get() const { return memory_.get(); }
  size_t room() const { return memory_ == nullptr ? 0 : room_; }

 private:
  std::unique_ptr<T[]> memory_;
  size_t room_ = 0;
};

// The working memory for one part of a slice that is sent sparsely
// (compression/top_k/selection.h).
struct PartScratch {
  // What may be sent (compression/top_k/cpu/candidates.h).
  RawMemory<uint64_t> words;
  RawMemory<float> values;
  size_t word_count = 0;
  size_t found = 0;
  // The candidates that a closer look decides about, and how many others are
  // sent.
  RawMemory<float> band;
  size_t banded = 0;
  size_t above = 0;
  // The part of the band that is still to be looked at, in one of the two
  // arrays or in the band itself, and how many of it a look finds above that.
  std::span<const float> open;
  RawMemory<float> narrower;
  RawMemory<float> spare;
  size_t narrowed = 0;
  size_t passed = 0;
  bool finite = true;
  // These stand in for `values` where candidates are kept as codes
  // (compression/top_k/cpu/stretch_codes.h).
  RawMemory<std::byte> codes;
  RawMemory<uint64_t> open_words;
  RawMemory<uint64_t> kept;

  size_t sent = 0;
  size_t ties = 0;  // of these, how many equal the smallest that is sent
  size_t at = 0;    // how many values other parts send before

  // The places of the first and of the last value that the part sends, counted
  // from the part's first value.
  size_t first = 0;
  size_t last = 0;
  RawMemory<std::byte> gaps;  // of the places after the first
  size_t gap_bytes = 0;
  uint64_t first_gap = 0;  // before the first place
  size_t gaps_at = 0;      // in the payload
};

// Bytes of a sparse payload that are read at once.
struct GapRange {
  size_t begin = 0;
  size_t end = 0;
  size_t at = 0;      // how many values are sent before
  uint64_t next = 0;  // the place after the last of them
  bool good = true;
};

// Keeps no state, so everybody can use the one there is.
inline ParallelExecutor& CallingThread() {
  static InlineExecutor executor;
  return executor;
}

// Only one call may use it at a time. A call does not depend on what an earlier
// one left in the memory.
struct Workspace {
  Workspace() : executor(&CallingThread()) {}
  // Requires: `loops` outlives this, and nobody else runs loops on it
  // meanwhile.
  explicit Workspace(ParallelExecutor& loops) : executor(&loops) {}

  ParallelExecutor* executor;

  std::vector<PartScratch> parts;  // may be more than a call uses
  std::vector<GapRange> ranges;
  std::vector<uint64_t> counts;
  std::vector<float> values;
  std::vector<float> sample;
  RawMemory<float> band;  // what is left of all parts'
  RawMemory<float> sent;  // in order, where it is not known at once how
  std::vector<std::byte> bytes;
  std::vector<double> sums;

  // Room for what a payload decodes to, until the next call. It is for the
  // caller of a codec: no codec uses it.
  std::span<float> DecodedRoom(size_t count) {
    return {decoded_.Room(count), count};
  }

 private:
  RawMemory<float> decoded_;
};

// The calling thread's own, for tasks that run wherever a thread is free. Keeps
// the memory of the largest slice that the thread has worked on.
inline Workspace& ThreadWorkspace() {
  thread_local Workspace workspace;
  return workspace;
}

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_WORKSPACE_H_
