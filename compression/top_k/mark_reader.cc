#include "compression/top_k/mark_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compression/parts.h"

namespace skerry::compression {
namespace {

constexpr size_t kByteMarks = 8;
static_assert(kPartElements % kMarkedStep == 0);
static_assert(kMarkedStep % cpu::kMarkedValues == 0);

}  // namespace

size_t MarkReader::parts() const {
  return (elements_ + kPartElements - 1) / kPartElements;
}

size_t MarkReader::EndOf(size_t part) const {
  return std::min((part + 1) * kPartElements, elements_);
}

bool MarkReader::Place(size_t count, Workspace& workspace) const {
  if (const size_t last = elements_ % kByteMarks;
      last > 0 &&
      std::to_integer<unsigned>(marks_[elements_ / kByteMarks]) >> last) {
    return false;
  }
  workspace.counts.resize(parts());
  workspace.executor->ForEach(parts(), [&](size_t part) {
    size_t marks = 0;
    uint64_t words[kMarkedWords];
    for (size_t begin = part * kPartElements; begin < EndOf(part);
         begin += kMarkedStep) {
      marks += cpu::CountMarks(WordsAt(begin, words));
    }
    workspace.counts[part] = marks;
  });
  size_t before = 0;
  for (uint64_t& mine : workspace.counts) {
    before += std::exchange(mine, before);
  }
  return before == count;
}

std::span<const uint64_t> MarkReader::WordsAt(size_t begin,
                                              uint64_t* words) const {
  const size_t size = std::min(kMarkedStep, elements_ - begin);
  const size_t count = (size + cpu::kMarkedValues - 1) / cpu::kMarkedValues;
  words[count - 1] = 0;
  std::memcpy(words, marks_ + begin / kByteMarks, MarkBytes(size));
  return {words, count};
}

}  // namespace skerry::compression
