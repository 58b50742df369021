#include "compression/top_k/indexed_writer.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "compression/codec_errors.h"
#include "compression/top_k/cpu/gaps.h"
#include "compression/top_k/cpu/sent.h"
#include "compression/top_k/marked_payload.h"
#include "compression/top_k/sent_blocks.h"
#include "compression/top_k/stretch_payload.h"

namespace skerry::compression {
namespace {

// Within a part, a gap takes this at most.
constexpr size_t kPartGapBytes = 3;
constexpr size_t kGapSlack = cpu::kCandidateSlack;

// Leaves the gaps behind a part's first place. read(candidates, cursor, gaps)
// reads all that it sends.
template <typename Read>
void WriteGaps(PartScratch& part, const Read& read) {
  std::byte* const gaps =
      part.gaps.Room(kPartGapBytes * part.values.room() + kGapSlack);
  std::byte* gaps_end = gaps;
  cpu::SentCursor cursor = BeginOf(part);
  read(CandidatesOf(part), cursor, gaps_end);
  SKERRY_CHECK(cursor.left == 0);
  part.first = cursor.first;
  part.last = part.sent == 0 ? 0 : cursor.next - 1;
  part.gap_bytes = static_cast<size_t>(gaps_end - gaps);
}

// Threads that collected parts begin with the same ones again.
template <typename Body>
void ForEachPart(std::span<PartScratch> parts, Workspace& workspace,
                 const Body& body) {
  workspace.executor->ForEach(parts.size(),
                              [&](size_t index) { body(parts[index]); });
}

// Tells parts where their gaps go in the payload; where they end.
size_t PlaceGaps(const Selection& selection, std::span<PartScratch> parts) {
  size_t at = kCountBytes;
  uint64_t next = 0;
  for (size_t index = 0; index < parts.size(); ++index) {
    PartScratch& part = parts[index];
    part.gaps_at = at;
    if (part.sent == 0) continue;
    const uint64_t begin = index * selection.part_size;
    // This one may be longer than the part.
    part.first_gap = begin + part.first - next;
    at += cpu::GapBytes(part.first_gap) + part.gap_bytes;
    next = begin + part.last + 1;
  }
  return at;
}

void WriteCount(size_t count, std::vector<std::byte>& payload) {
  SKERRY_CHECK(count <= std::numeric_limits<uint32_t>::max());
  const auto written = static_cast<uint32_t>(count);
  std::memcpy(payload.data(), &written, kCountBytes);
}

// Makes room for a payload with `value_bytes` behind its gaps, and writes what
// it begins with; where the values go.
std::byte* BeginPayload(const Selection& selection,
                        std::span<PartScratch> parts, size_t value_bytes,
                        std::vector<std::byte>& payload) {
  const size_t values_at = PlaceGaps(selection, parts);
  payload.resize(values_at + value_bytes);
  WriteCount(selection.sent, payload);
  return payload.data() + values_at;
}

void CopyGaps(const PartScratch& part, std::vector<std::byte>& payload) {
  if (part.sent == 0) return;
  std::copy_n(part.gaps.get(), part.gap_bytes,
              cpu::WriteGap(part.first_gap, payload.data() + part.gaps_at));
}

// Where all candidates are sent, their values stay where they are until it is
// known where they go.
absl::Status EncodeKept(const Selection& selection, const DenseCodec& inner,
                        std::span<PartScratch> parts,
                        std::vector<std::byte>& payload, Workspace& workspace) {
  ForEachPart(parts, workspace, [](PartScratch& part) {
    WriteGaps(part, [&](const cpu::Candidates& from, cpu::SentCursor& cursor,
                        std::byte*& gaps) {
      cpu::ReadEveryPlace(from, part.word_count, cursor, gaps);
    });
  });
  std::byte* const values = BeginPayload(
      selection, parts, inner.MaxEncodedBytes(selection.sent), payload);
  const SentBlocks blocks(selection, inner, values, workspace);
  ForEachPart(parts, workspace, [&](PartScratch& part) {
    CopyGaps(part, payload);
    blocks.WritePart(part, {part.values.get(), part.sent});
  });
  return blocks.Finish();
}

// Where some are not, places and values are read together.
absl::Status EncodeChosen(const Selection& selection, const DenseCodec& inner,
                          std::span<PartScratch> parts,
                          std::vector<std::byte>& payload,
                          Workspace& workspace) {
  std::vector<std::byte>& bytes = workspace.bytes;
  bytes.resize(inner.MaxEncodedBytes(selection.sent));
  const SentBlocks blocks(selection, inner, bytes.data(), workspace);
  ForEachPart(parts, workspace, [&](PartScratch& part) {
    WriteGaps(part, [&](const cpu::Candidates& from, cpu::SentCursor& cursor,
                        std::byte*& gaps) {
      blocks.WritePart(part, [&](float* values) {
        return cpu::ReadSent(from, part.word_count, selection.above, cursor,
                             values, gaps);
      });
    });
  });
  SKERRY_RETURN_IF_ERROR(blocks.Finish());
  std::byte* const values =
      BeginPayload(selection, parts, bytes.size(), payload);
  workspace.executor->ForEach(parts.size(), [&](size_t index) {
    CopyGaps(parts[index], payload);
    const size_t begin = index * bytes.size() / parts.size();
    const size_t end = (index + 1) * bytes.size() / parts.size();
    std::copy_n(bytes.data() + begin, end - begin, values + begin);
  });
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckIndexedCount(size_t count, const char* codec) {
  if (count <= std::numeric_limits<uint32_t>::max()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(codec, " of ", count, " values: split the slice"));
}

size_t IndexedBytesMax(size_t elements, size_t count, const DenseCodec& inner) {
  if (IsMarked(elements, count)) {
    return kCountBytes + MarkedBytes(elements, count, inner);
  }
  return kCountBytes + count * cpu::GapBytes(uint64_t{elements}) +
         inner.MaxEncodedBytes(count);
}

absl::Status EncodeLargest(std::span<const float> values, size_t kept,
                           const DenseCodec& inner, std::string_view codec,
                           std::vector<std::byte>& payload,
                           Workspace& workspace) {
  if (kept > 0 && IsMarked(values.size(), kept) && IsStretched(inner)) {
    const StretchLayout layout(values.size(), kept);
    payload.resize(kCountBytes + layout.bytes);
    WriteCount(kept, payload);
    return EncodeLargestStretches(values, layout, payload.data() + kCountBytes,
                                  workspace)
               ? absl::OkStatus()
               : NotFiniteError(values, codec);
  }
  Selection selection{.parts = 0};
  if (kept > 0) {
    const auto found = SelectTopK(values, kept, workspace);
    if (!found.has_value()) return NotFiniteError(values, codec);
    selection = *found;
  }
  return EncodeIndexed(selection, inner, payload, workspace);
}

absl::Status EncodeIndexed(const Selection& selection, const DenseCodec& inner,
                           std::vector<std::byte>& payload,
                           Workspace& workspace) {
  const size_t total = selection.sent;
  // Room for whatever places the next slice of this size may have.
  const size_t bytes_max = IndexedBytesMax(selection.elements, total, inner);
  if (IsMarked(selection.elements, total)) {
    payload.resize(bytes_max);
    WriteCount(total, payload);
    return EncodeMarked(selection, inner, payload.data() + kCountBytes,
                        workspace);
  }
  payload.reserve(bytes_max);
  const std::span<PartScratch> parts(workspace.parts.data(), selection.parts);
  if (std::all_of(parts.begin(), parts.end(), [](const PartScratch& part) {
        return part.sent == part.found;
      })) {
    return EncodeKept(selection, inner, parts, payload, workspace);
  }
  return EncodeChosen(selection, inner, parts, payload, workspace);
}

}  // namespace skerry::compression
