#include "compression/top_k/marked_payload.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/check.h"
#include "base/status.h"
#include "compression/parts.h"
#include "compression/top_k/cpu/candidates.h"
#include "compression/top_k/cpu/sent_marks.h"
#include "compression/top_k/sent_blocks.h"
#include "compression/top_k/stretch_payload.h"

namespace skerry::compression {
namespace {

constexpr size_t kByteMarks = 8;
static_assert(cpu::kWordValues == cpu::kMarkedValues);

// One payload that is being read.
class Reader {
 public:
  Reader(std::span<const std::byte> payload, size_t elements, size_t count,
         const DenseCodec& inner)
      : marks_(payload.data(), elements),
        values_(payload.data() + MarkBytes(elements)),
        elements_(elements),
        count_(count),
        inner_(inner) {}

  const MarkReader& marks() const { return marks_; }

  // Uses what a part sends, of which parts before send `at`. False when a value
  // is broken.
  bool Use(size_t part, size_t at,
           absl::FunctionRef<void(const MarkedRange&)> use) const {
    uint64_t words[kMarkedWords];
    float values[kMarkedStep + 2 * kBlockMost + cpu::kMarkedSlack] = {};
    // Decoded up to there, and of that, what is not used yet.
    size_t decoded = at / kBlockMost * kBlockMost;
    size_t unused = 0;
    size_t skipped = at - decoded;
    for (size_t begin = part * kPartElements; begin < marks_.EndOf(part);
         begin += kMarkedStep) {
      const auto mine = marks_.WordsAt(begin, words);
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
  const MarkReader marks_;
  const std::byte* const values_;
  const size_t elements_;
  const size_t count_;
  const DenseCodec& inner_;
};

}  // namespace

size_t MarkedLeast(size_t elements) {
  return std::max<size_t>(MarkBytes(elements), 1);
}

bool IsStretched(const DenseCodec& inner) {
  return inner.id() == CodecId::kInt8Block;
}

size_t MarkedBytes(size_t elements, size_t count, const DenseCodec& inner) {
  if (IsStretched(inner)) return StretchLayout(elements, count).bytes;
  return MarkBytes(elements) + inner.MaxEncodedBytes(count);
}

absl::Status EncodeMarked(const Selection& selection, const DenseCodec& inner,
                          std::byte* out, Workspace& workspace) {
  if (IsStretched(inner)) {
    EncodeStretches(selection,
                    StretchLayout(selection.elements, selection.sent), out,
                    workspace);
    return absl::OkStatus();
  }
  const SentBlocks blocks(selection, inner, out + MarkBytes(selection.elements),
                          workspace);
  workspace.executor->ForEach(selection.parts, [&](size_t number) {
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
  if (IsStretched(inner)) {
    return DecodeStretches(payload, StretchLayout(elements, count), workspace,
                           use);
  }
  if (payload.size() != MarkedBytes(elements, count, inner)) return false;
  const Reader reader(payload, elements, count, inner);
  if (!reader.marks().Place(count, workspace)) return false;
  std::atomic<bool> good{true};
  workspace.executor->ForEach(reader.marks().parts(), [&](size_t part) {
    if (!reader.Use(part, workspace.counts[part], use)) {
      good.store(false, std::memory_order_relaxed);
    }
  });
  return good.load(std::memory_order_relaxed);
}

}  // namespace skerry::compression
