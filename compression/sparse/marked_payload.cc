#include "compression/sparse/marked_payload.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "compression/cpu/candidates.h"
#include "compression/cpu/sent_marks.h"
#include "compression/parts.h"
#include "compression/sparse/sent_blocks.h"

namespace skerry::compression {
namespace {

constexpr size_t kByteMarks = 8;
static_assert(kPartElements % kMarkedStep == 0);
static_assert(kMarkedStep % cpu::kMarkedValues == 0);
static_assert(cpu::kWordValues == cpu::kMarkedValues);

size_t MarkBytes(size_t elements) {
  return (elements + kByteMarks - 1) / kByteMarks;
}

// One payload that is being read.
class Reader {
 public:
  Reader(std::span<const std::byte> payload, size_t elements, size_t count,
         const DenseCodec& inner)
      : marks_(payload.data()),
        values_(payload.data() + MarkBytes(elements)),
        elements_(elements),
        count_(count),
        inner_(inner) {}

  size_t parts() const {
    return (elements_ + kPartElements - 1) / kPartElements;
  }

  // Leaves how many values parts before each send. False when that are not as
  // many as there are, or bits behind the slice are set.
  bool Place(Workspace& workspace) const {
    if (const size_t last = elements_ % kByteMarks;
        last > 0 &&
        std::to_integer<unsigned>(marks_[elements_ / kByteMarks]) >> last) {
      return false;
    }
    workspace.counts.resize(parts());
    workspace.executor->ForEach(parts(), [&](size_t part) {
      size_t marks = 0;
      uint64_t words[kMarkedStep / cpu::kMarkedValues];
      for (size_t begin = part * kPartElements; begin < EndOf(part);
           begin += kMarkedStep) {
        marks += cpu::CountMarks(WordsAt(begin, words));
      }
      workspace.counts[part] = marks;
    });
    size_t before = 0;
    for (uint64_t& count : workspace.counts) {
      before += std::exchange(count, before);
    }
    return before == count_;
  }

  // Uses what a part sends, of which parts before send `at`. False when a value
  // is broken.
  bool Use(size_t part, size_t at,
           absl::FunctionRef<void(const MarkedRange&)> use) const {
    uint64_t words[kMarkedStep / cpu::kMarkedValues];
    float values[kMarkedStep + 2 * kBlockMost + cpu::kMarkedSlack] = {};
    // Decoded up to there, and of that, what is not used yet.
    size_t decoded = at / kBlockMost * kBlockMost;
    size_t unused = 0;
    size_t skipped = at - decoded;
    for (size_t begin = part * kPartElements; begin < EndOf(part);
         begin += kMarkedStep) {
      const auto mine = WordsAt(begin, words);
      const size_t marks = cpu::CountMarks(mine);
      if (unused < marks + skipped) {
        const size_t more = marks + skipped - unused;
        const size_t whole = (more + kBlockMost - 1) / kBlockMost * kBlockMost;
        const size_t some = std::min(whole, count_ - decoded);
        if (!inner_.DecodeBlocks(values_, decoded, count_,
                                 {values + unused, some})) {
          return false;
        }
        decoded += some;
        unused += some;
      }
      use({begin, std::min(kMarkedStep, elements_ - begin), words,
           values + skipped, marks});
      unused -= skipped + marks;
      std::copy_n(values + skipped + marks, unused, values);
      skipped = 0;
    }
    return true;
  }

 private:
  size_t EndOf(size_t part) const {
    return std::min((part + 1) * kPartElements, elements_);
  }

  // The bits of a step that begins at `begin`.
  std::span<const uint64_t> WordsAt(size_t begin, uint64_t* words) const {
    const size_t size = std::min(kMarkedStep, elements_ - begin);
    const size_t count = (size + cpu::kMarkedValues - 1) / cpu::kMarkedValues;
    words[count - 1] = 0;
    std::memcpy(words, marks_ + begin / kByteMarks, MarkBytes(size));
    return {words, count};
  }

  const std::byte* const marks_;
  const std::byte* const values_;
  const size_t elements_;
  const size_t count_;
  const DenseCodec& inner_;
};

}  // namespace

size_t MarkedLeast(size_t elements) {
  return std::max<size_t>(MarkBytes(elements), 1);
}

size_t MarkedBytes(size_t elements, size_t count, const DenseCodec& inner) {
  return MarkBytes(elements) + inner.MaxEncodedBytes(count);
}

absl::Status EncodeMarked(const Selection& selection, const DenseCodec& inner,
                          std::byte* out, Workspace& workspace) {
  const SentBlocks blocks(selection, inner, out + MarkBytes(selection.elements),
                          workspace);
  // What was collected last is still in a cache.
  workspace.executor->ForEach(selection.parts, [&](size_t index) {
    const size_t number = selection.parts - 1 - index;
    PartScratch& part = workspace.parts[number];
    const cpu::Candidates candidates = CandidatesOf(part);
    if (part.sent == part.found) {
      blocks.WritePart(part, {candidates.values, part.sent});
    } else {
      cpu::SentCursor cursor = BeginOf(part);
      blocks.WritePart(part, [&](float* values) {
        return cpu::ReadSentMarks(candidates, part.word_count, selection.above,
                                  cursor, values);
      });
      SKERRY_CHECK(cursor.left == 0);
    }
    const size_t begin = number * selection.part_size;
    const size_t size =
        std::min(selection.part_size, selection.elements - begin);
    // Behind where collecting them was given up.
    const size_t words = (size + cpu::kWordValues - 1) / cpu::kWordValues;
    std::fill(candidates.words + part.word_count, candidates.words + words, 0);
    std::memcpy(out + begin / kByteMarks, candidates.words, MarkBytes(size));
  });
  return blocks.Finish();
}

bool DecodeMarked(std::span<const std::byte> payload, size_t elements,
                  size_t count, const DenseCodec& inner, Workspace& workspace,
                  absl::FunctionRef<void(const MarkedRange&)> use) {
  if (payload.size() != MarkedBytes(elements, count, inner)) return false;
  const Reader reader(payload, elements, count, inner);
  if (!reader.Place(workspace)) return false;
  std::atomic<bool> good{true};
  workspace.executor->ForEach(reader.parts(), [&](size_t part) {
    if (!reader.Use(part, workspace.counts[part], use)) {
      good.store(false, std::memory_order_relaxed);
    }
  });
  return good.load(std::memory_order_relaxed);
}

}  // namespace skerry::compression
