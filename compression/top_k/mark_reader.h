// compression/top_k/mark_reader.h
//
// Payloads may begin with a bit for each value of the slice that tells whether
// it is sent. This class reads these bits part by part.
#ifndef SKERRY_COMPRESSION_TOP_K_MARK_READER_H_
#define SKERRY_COMPRESSION_TOP_K_MARK_READER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "compression/top_k/cpu/marks.h"
#include "compression/workspace.h"

namespace skerry::compression {

// Values of a slice whose bits are read at once, at most.
inline constexpr size_t kMarkedStep = 4096;
inline constexpr size_t kMarkedWords = kMarkedStep / cpu::kMarkedValues;

// What the bits of so many values take.
constexpr size_t MarkBytes(size_t elements) { return (elements + 7) / 8; }

// The sent values among the values [begin, begin + size) of a slice.
struct MarkedRange {
  size_t begin;
  size_t size;            // kMarkedStep, or less at the end
  const uint64_t* words;  // bits of them
  // The values that are sent, followed by cpu::kMarkedSlack values without
  // meaning.
  const float* values;
  size_t count;
};

class MarkReader {
 public:
  // Requires: MarkBytes(elements) at `marks`.
  MarkReader(const std::byte* marks, size_t elements)
      : marks_(marks), elements_(elements) {}

  size_t parts() const;
  size_t EndOf(size_t part) const;

  // Leaves in workspace.counts how many values parts before each send. False
  // when that are not `count` in all, or bits behind the slice are set.
  bool Place(size_t count, Workspace& workspace) const;

  // The bits of the step that begins at `begin`, in `words`, which has room for
  // kMarkedWords.
  std::span<const uint64_t> WordsAt(size_t begin, uint64_t* words) const;

 private:
  const std::byte* const marks_;
  const size_t elements_;
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TOP_K_MARK_READER_H_
