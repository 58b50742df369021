#include "compression/top_k/stretch_payload.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/check.h"
#include "compression/dense/cpu/int8_block.h"
#include "compression/parts.h"
#include "compression/top_k/cpu/candidates.h"
#include "compression/top_k/cpu/sent_marks.h"
#include "compression/top_k/cpu/stretch_codes.h"

namespace skerry::compression {
namespace {

constexpr size_t kPlacesLeast = 256;
constexpr size_t kSharedLeast = 192;
static_assert(kMarkedStep % cpu::kStretchMost == 0);
static_assert(cpu::kStretchSlack >= cpu::kMarkedSlack);
static_assert(cpu::kWordValues == cpu::kMarkedValues);

using cpu::WordsOf;

// Writes the scales and codes of one part of a payload.
class PartWriter {
 public:
  PartWriter(const StretchLayout& layout, size_t begin, size_t sent_before,
             std::byte* out)
      : scale_(layout.ScaleAt(begin, out)),
        code_(out + layout.codes_at + sent_before) {}

  // Appends one stretch. Its scale is 0 where nothing is sent.
  void Write(const std::byte* codes, size_t sent, float scale) {
    if (sent == 0) scale = 0.0f;
    std::memcpy(scale_, &scale, sizeof(scale));
    scale_ += sizeof(scale);
    code_ = std::copy_n(codes, sent, code_);
  }

 private:
  std::byte* scale_;
  std::byte* code_;
};

// Where part `index` of the slice begins, and how many values it has.
struct PartOfSlice {
  PartOfSlice(const Selection& selection, size_t index)
      : begin(index * selection.part_size),
        size(std::min(selection.part_size, selection.elements - begin)) {}
  size_t begin;
  size_t size;
};

// Calls write(part, where it is) for all parts. Threads that collected parts
// begin with the same ones again.
template <typename Write>
void ForEachPart(const Selection& selection, Workspace& workspace,
                 const Write& write) {
  workspace.executor->ForEach(selection.parts, [&](size_t index) {
    write(workspace.parts[index], PartOfSlice(selection, index));
  });
}

// Reads what is sent of the words up to `end` into `values`, and returns it.
std::span<const float> ReadStretch(const cpu::Candidates& candidates,
                                   size_t end, uint32_t above,
                                   cpu::SentCursor& cursor, float* values) {
  size_t sent = 0;
  while (const size_t fresh = cpu::ReadSentMarks(candidates, end, above, cursor,
                                                 values + sent)) {
    sent += fresh;
  }
  return {values, sent};
}

// Writes a part of which candidates were kept as values.
void EncodePart(const Selection& selection, const PartScratch& part,
                const PartOfSlice& at, const StretchLayout& layout,
                std::byte* out) {
  const cpu::Candidates candidates = CandidatesOf(part);
  const std::span<uint64_t> words(candidates.words, WordsOf(at.size));
  // Collecting may have ended early. Nothing is sent of the words behind.
  std::fill(words.begin() + part.word_count, words.end(), 0);
  PartWriter writer(layout, at.begin, part.at, out);
  cpu::SentCursor cursor = BeginOf(part);
  const bool every = part.sent == part.found;
  float values[cpu::kStretchMost + cpu::kSentRoom];
  std::byte codes[cpu::kStretchMost + cpu::kCodeSlack];
  for (size_t begin = 0; begin < at.size; begin += layout.places) {
    const size_t first = WordsOf(begin);
    const size_t end = WordsOf(std::min(begin + layout.places, at.size));
    std::span<const float> sent;
    if (every) {
      sent = {candidates.values + cursor.found,
              cpu::CountMarks(words.subspan(first, end - first))};
      cursor.found += sent.size();
      cursor.left -= sent.size();
    } else {
      sent = ReadStretch(candidates, end, selection.above, cursor, values);
    }
    const float scale = cpu::EncodeStretch(sent, codes);
    writer.Write(codes, sent.size(), scale);
  }
  SKERRY_CHECK(cursor.left == 0);
  std::memcpy(layout.MarksAt(at.begin, out), words.data(), MarkBytes(at.size));
}

// Leaves what is wanted of a part as codes of its stretches. The bits and
// scales of what may be sent go where the payload will have them.
void CollectCodes(std::span<const float> values, const Wanted& wanted,
                  size_t begin, const StretchLayout& layout, std::byte* out,
                  PartScratch& part) {
  part.open_words.Room(WordsOf(kPartElements) + kPartElements / kPlacesLeast);
  part.found = 0;
  part.banded = 0;
  part.finite = true;
  size_t opened = 0;
  std::byte* scale_at = layout.ScaleAt(begin, out);
  for (size_t at = 0; at < values.size(); at += layout.places) {
    const size_t size = std::min(layout.places, values.size() - at);
    part.codes.Grow(part.found + size + cpu::kCodeSlack, wanted.room,
                    part.found);
    part.band.Grow(part.banded + size + cpu::kCodeSlack, wanted.room,
                   part.banded);
    uint64_t words[WordsOf(cpu::kStretchMost)];
    const cpu::CodedStretch coded = cpu::CodeStretch(
        values.subspan(at, size), wanted.low, wanted.high,
        {words, part.codes.get() + part.found, part.open_words.get() + opened,
         part.band.get() + part.banded});
    std::memcpy(layout.MarksAt(begin + at, out), words, MarkBytes(size));
    std::memcpy(scale_at, &coded.scale, sizeof(coded.scale));
    scale_at += sizeof(coded.scale);
    opened += WordsOf(coded.found);
    part.found += coded.found;
    part.banded += coded.banded;
    part.finite &= coded.finite;
    if (part.found > wanted.most) break;
  }
  part.above = part.found - part.banded;
}

// Writes a part from the codes that CollectCodes left, and clears the bits of
// values that are not sent.
void WriteCodes(const Selection& selection, PartScratch& part,
                const PartOfSlice& at, const StretchLayout& layout,
                std::byte* out) {
  uint64_t* const kept = part.kept.Room(WordsOf(kPartElements) + 1);
  cpu::ChooseBand({part.band.get(), part.banded}, selection.above, part.ties,
                  kept);
  cpu::KeptBand band = {kept};
  PartWriter writer(layout, at.begin, part.at, out);
  uint64_t words[WordsOf(cpu::kStretchMost)];
  cpu::StretchCodes from = {words, part.codes.get(), part.open_words.get(),
                            nullptr};
  std::byte codes[cpu::kStretchMost + cpu::kCodeSlack];
  size_t sent = 0;
  for (size_t begin = 0; begin < at.size; begin += layout.places) {
    const size_t size = std::min(layout.places, at.size - begin);
    std::byte* const marks = layout.MarksAt(at.begin + begin, out);
    words[WordsOf(size) - 1] = 0;
    std::memcpy(words, marks, MarkBytes(size));
    const cpu::TakenCodes taken =
        cpu::TakeCodes(from, WordsOf(size), band, codes);
    if (taken.sent < taken.found) std::memcpy(marks, words, MarkBytes(size));
    float scale;
    std::memcpy(&scale, layout.ScaleAt(at.begin + begin, out), sizeof(scale));
    writer.Write(codes, taken.sent, scale);
    from.codes += taken.found;
    from.open += WordsOf(taken.found);
    sent += taken.sent;
  }
  SKERRY_CHECK(sent == part.sent);
}

// One payload that is being read.
class Reader {
 public:
  Reader(std::span<const std::byte> payload, const StretchLayout& layout)
      : marks_(payload.data() + layout.marks_at, layout.elements),
        layout_(layout),
        payload_(payload.data()) {}

  const MarkReader& marks() const { return marks_; }

  // Uses what a part sends, of which parts before send `at`. False when a scale
  // or a code is broken.
  bool Use(size_t part, size_t at,
           absl::FunctionRef<void(const MarkedRange&)> use) const {
    uint64_t words[kMarkedWords];
    float values[kMarkedStep + cpu::kStretchSlack];
    for (size_t begin = part * kPartElements; begin < marks_.EndOf(part);
         begin += kMarkedStep) {
      const auto mine = marks_.WordsAt(begin, words);
      const size_t size = std::min(kMarkedStep, layout_.elements - begin);
      size_t count = 0;
      for (size_t from = 0; from < size; from += layout_.places) {
        const size_t first = from / cpu::kMarkedValues;
        const size_t marks = cpu::CountMarks(mine.subspan(
            first, WordsOf(std::min(layout_.places, size - from))));
        if (!Decode(begin + from, at + count, marks, values + count)) {
          return false;
        }
        count += marks;
      }
      use({begin, size, words, values, count});
      at += count;
    }
    return true;
  }

 private:
  // The stretch that begins at place `begin`.
  bool Decode(size_t begin, size_t at, size_t count, float* values) const {
    float scale;
    std::memcpy(&scale, layout_.ScaleAt(begin, payload_), sizeof(scale));
    return cpu::Int8Block::IsScale(scale) &&
           cpu::DecodeStretch({payload_ + layout_.codes_at + at, count}, scale,
                              values);
  }

  const MarkReader marks_;
  const StretchLayout& layout_;
  const std::byte* const payload_;
};

}  // namespace

size_t StretchPlaces(size_t elements, size_t count) {
  size_t places = kPlacesLeast;
  // places * count < kSharedLeast * elements, where neither may overflow.
  while (places < cpu::kStretchMost &&
         static_cast<unsigned __int128>(places) * count <
             static_cast<unsigned __int128>(kSharedLeast) * elements) {
    places *= 2;
  }
  return places;
}

StretchLayout::StretchLayout(size_t slice_elements, size_t sent)
    : elements(slice_elements),
      count(sent),
      places(StretchPlaces(elements, count)),
      marks_at((elements + places - 1) / places * sizeof(float)),
      codes_at(marks_at + MarkBytes(elements)),
      bytes(codes_at + count) {}

void EncodeStretches(const Selection& selection, const StretchLayout& layout,
                     std::byte* out, Workspace& workspace) {
  ForEachPart(selection, workspace,
              [&](const PartScratch& part, const PartOfSlice& at) {
                EncodePart(selection, part, at, layout, out);
              });
}

bool EncodeLargestStretches(std::span<const float> values,
                            const StretchLayout& layout, std::byte* out,
                            Workspace& workspace) {
  const auto selection = SelectTopK(
      values, layout.count, workspace,
      [&](std::span<const float> mine, const Wanted& wanted,
          PartScratch& part) {
        CollectCodes(mine, wanted,
                     static_cast<size_t>(mine.data() - values.data()), layout,
                     out, part);
      });
  if (!selection.has_value()) return false;
  ForEachPart(*selection, workspace,
              [&](PartScratch& part, const PartOfSlice& at) {
                WriteCodes(*selection, part, at, layout, out);
              });
  return true;
}

bool DecodeStretches(std::span<const std::byte> payload,
                     const StretchLayout& layout, Workspace& workspace,
                     absl::FunctionRef<void(const MarkedRange&)> use) {
  if (payload.size() != layout.bytes) return false;
  const Reader reader(payload, layout);
  if (!reader.marks().Place(layout.count, workspace)) return false;
  std::atomic<bool> good{true};
  workspace.executor->ForEach(reader.marks().parts(), [&](size_t part) {
    if (!reader.Use(part, workspace.counts[part], use)) {
      good.store(false, std::memory_order_relaxed);
    }
  });
  return good.load(std::memory_order_relaxed);
}

}  // namespace skerry::compression
