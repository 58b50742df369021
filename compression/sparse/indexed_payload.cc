#include "compression/sparse/indexed_payload.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "compression/cpu/gaps.h"
#include "compression/parts.h"

namespace skerry::compression {
namespace {

constexpr size_t kCountBytes = sizeof(uint32_t);
// Values that are still in cache when they are touched again.
constexpr size_t kScatterStep = 4096;

size_t VarintBytes(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

std::byte* WriteVarint(uint64_t value, std::byte* out) {
  for (; value >= 0x80; value >>= 7) {
    *out++ = static_cast<std::byte>(value | 0x80);
  }
  *out++ = static_cast<std::byte>(value);
  return out;
}

// Reads from the front of `bytes`, which it shortens. False when they end, the
// number needs more than 63 bits, or its last byte adds nothing.
bool ReadVarint(std::span<const std::byte>& bytes, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < bytes.size() && i < 9; ++i) {
    const auto byte = std::to_integer<uint64_t>(bytes[i]);
    value |= (byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    bytes = bytes.subspan(i + 1);
    return byte != 0 || i == 0;
  }
  return false;
}

// Reads eight gaps of one byte each, if that is what comes; how many it read.
// `next` is the place after the last one.
size_t ReadBytes(std::span<const std::byte>& bytes, uint64_t& next,
                 std::span<uint64_t> indices) {
  constexpr size_t kMany = 8;
  if (bytes.size() < kMany || indices.size() < kMany) return 0;
  uint64_t word;
  std::memcpy(&word, bytes.data(), kMany);
  if ((word & 0x8080808080808080u) != 0) return 0;
  for (size_t i = 0; i < kMany; ++i) {
    next += std::to_integer<uint64_t>(bytes[i]);
    indices[i] = next++;
  }
  bytes = bytes.subspan(kMany);
  return kMany;
}

absl::Status Broken(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("sparse payload: ", what));
}

// The gap before a part's first place, which may be longer than the part;
// `begin` is the part's first value. Requires: the part has a place.
uint64_t FirstGap(const PartScratch& part, uint64_t begin) {
  return begin + part.places.front() - part.next;
}

// Adds workspace.values at workspace.indices; to zeros if it is to overwrite.
void Scatter(bool overwrite, std::span<float> values, Workspace& workspace) {
  const std::span<const uint64_t> indices = workspace.indices;
  EveryPart(values.size(), *workspace.executor, [&](size_t begin, size_t end) {
    auto at = static_cast<size_t>(
        std::lower_bound(indices.begin(), indices.end(), begin) -
        indices.begin());
    for (size_t step = begin; step < end; step += kScatterStep) {
      const size_t step_end = std::min(step + kScatterStep, end);
      if (overwrite) {
        std::fill(values.begin() + static_cast<ptrdiff_t>(step),
                  values.begin() + static_cast<ptrdiff_t>(step_end), 0.0f);
      }
      for (; at < indices.size() && indices[at] < step_end; ++at) {
        values[indices[at]] += workspace.values[at];
      }
    }
    return true;
  });
}

}  // namespace

size_t IndexedBytesMax(size_t elements, size_t count, const Codec& inner) {
  return kCountBytes + count * VarintBytes(elements) +
         inner.MaxEncodedBytes(count);
}

absl::Status EncodeIndexed(const Selection& selection, const Codec& inner,
                           std::vector<std::byte>& payload,
                           Workspace& workspace) {
  SKERRY_CHECK(selection.sent <= std::numeric_limits<uint32_t>::max());
  workspace.values.resize(selection.sent);
  workspace.executor->ForEach(selection.parts, [&](size_t index) {
    PartScratch& part = workspace.parts[index];
    std::copy(part.values.begin(), part.values.end(),
              workspace.values.begin() + static_cast<ptrdiff_t>(part.at));
    part.bytes_at = 0;  // its size, until all are known
    if (part.places.empty()) return;
    part.bytes_at = VarintBytes(FirstGap(part, index * selection.part_size)) +
                    cpu::GapBytes(part.places);
  });
  size_t at = kCountBytes;
  for (size_t index = 0; index < selection.parts; ++index) {
    const size_t bytes = workspace.parts[index].bytes_at;
    workspace.parts[index].bytes_at = at;
    at += bytes;
  }
  SKERRY_RETURN_IF_ERROR(
      inner.Encode(workspace.values, workspace.bytes, workspace));
  // Room for whatever places the next slice of this size may have.
  payload.reserve(IndexedBytesMax(selection.parts * selection.part_size,
                                  selection.sent, inner));
  payload.resize(at + workspace.bytes.size());
  const auto count = static_cast<uint32_t>(selection.sent);
  std::memcpy(payload.data(), &count, kCountBytes);
  std::copy(workspace.bytes.begin(), workspace.bytes.end(),
            payload.begin() + static_cast<ptrdiff_t>(at));
  workspace.executor->ForEach(selection.parts, [&](size_t index) {
    const PartScratch& part = workspace.parts[index];
    if (part.places.empty()) return;
    cpu::WriteGaps(part.places,
                   WriteVarint(FirstGap(part, index * selection.part_size),
                               payload.data() + part.bytes_at));
  });
  return absl::OkStatus();
}

absl::Status DecodeIndexed(std::span<const std::byte> payload, size_t elements,
                           const CountRange& range, const Codec& inner,
                           Workspace& workspace) {
  if (payload.size() < kCountBytes) return Broken("shorter than its count");
  uint32_t count;
  std::memcpy(&count, payload.data(), kCountBytes);
  payload = payload.subspan(kCountBytes);
  // Every index takes a byte, which bounds what is allocated.
  if (count < range.least || count > range.most || count > payload.size()) {
    return Broken(absl::StrCat("count ", count, " is out of bounds"));
  }
  workspace.indices.resize(count);
  workspace.values.resize(count);
  uint64_t next = 0;
  const std::span<uint64_t> indices = workspace.indices;
  for (size_t i = 0; i < count;) {
    const size_t quick = ReadBytes(payload, next, indices.subspan(i));
    if (quick > 0) {
      // They ascend, so the last one stands for all.
      if (next > elements) return Broken("an index is out of bounds");
      i += quick;
      continue;
    }
    uint64_t gap;
    if (!ReadVarint(payload, gap)) return Broken("no index where one is due");
    if (next >= elements || gap >= elements - next) {
      return Broken("an index is out of bounds");
    }
    indices[i] = next + gap;
    next = indices[i++] + 1;
  }
  return inner.Decode(payload, workspace.values, workspace);
}

size_t IndexedCodec::MaxEncodedBytes(size_t elements) const {
  return IndexedBytesMax(elements, CountsOf(elements).most, inner_);
}

absl::Status IndexedCodec::Decode(std::span<const std::byte> payload,
                                  std::span<float> values,
                                  Workspace& workspace) const {
  SKERRY_RETURN_IF_ERROR(DecodeIndexed(
      payload, values.size(), CountsOf(values.size()), inner_, workspace));
  Scatter(/*overwrite=*/true, values, workspace);
  return absl::OkStatus();
}

absl::Status IndexedCodec::DecodeAdd(std::span<const std::byte> payload,
                                     std::span<float> accumulators,
                                     Workspace& workspace) const {
  SKERRY_RETURN_IF_ERROR(DecodeIndexed(payload, accumulators.size(),
                                       CountsOf(accumulators.size()), inner_,
                                       workspace));
  Scatter(/*overwrite=*/false, accumulators, workspace);
  return absl::OkStatus();
}

}  // namespace skerry::compression
