#include "compression/sparse/indexed_payload.h"

#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"

namespace skerry::compression {
namespace {

constexpr size_t kCountBytes = sizeof(uint32_t);

size_t VarintBytes(uint64_t value) {
  size_t bytes = 1;
  while ((value >>= 7) != 0) ++bytes;
  return bytes;
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

absl::Status Broken(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("sparse payload: ", what));
}

}  // namespace

size_t IndexedBytesMax(size_t elements, size_t count, const Codec& inner) {
  return kCountBytes + count * VarintBytes(elements) +
         inner.MaxEncodedBytes(count);
}

absl::Status EncodeIndexed(std::span<const float> values,
                           std::span<const uint64_t> indices,
                           const Codec& inner,
                           std::vector<std::byte>& payload) {
  SKERRY_CHECK(indices.size() <= std::numeric_limits<uint32_t>::max());
  std::vector<float> kept(indices.size());
  size_t index_bytes = 0;
  uint64_t next = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    SKERRY_CHECK(indices[i] >= next && indices[i] < values.size());
    kept[i] = values[indices[i]];
    index_bytes += VarintBytes(indices[i] - next);
    next = indices[i] + 1;
  }
  std::vector<std::byte> encoded;
  SKERRY_RETURN_IF_ERROR(inner.Encode(kept, encoded));
  payload.resize(kCountBytes + index_bytes + encoded.size());
  const auto count = static_cast<uint32_t>(indices.size());
  std::memcpy(payload.data(), &count, kCountBytes);
  std::byte* out = payload.data() + kCountBytes;
  next = 0;
  for (const uint64_t index : indices) {
    out = WriteVarint(index - next, out);
    next = index + 1;
  }
  if (!encoded.empty()) std::memcpy(out, encoded.data(), encoded.size());
  return absl::OkStatus();
}

absl::StatusOr<IndexedValues> DecodeIndexed(std::span<const std::byte> payload,
                                            size_t elements, size_t count_min,
                                            size_t count_max,
                                            const Codec& inner) {
  if (payload.size() < kCountBytes) return Broken("shorter than its count");
  uint32_t count;
  std::memcpy(&count, payload.data(), kCountBytes);
  payload = payload.subspan(kCountBytes);
  // Every index takes a byte, which bounds what is allocated.
  if (count < count_min || count > count_max || count > payload.size()) {
    return Broken(absl::StrCat("count ", count, " is out of bounds"));
  }
  IndexedValues decoded;
  decoded.indices.resize(count);
  decoded.values.resize(count);
  uint64_t next = 0;
  for (uint64_t& index : decoded.indices) {
    uint64_t gap;
    if (!ReadVarint(payload, gap)) return Broken("no index where one is due");
    if (next >= elements || gap >= elements - next) {
      return Broken("an index is out of bounds");
    }
    index = next + gap;
    next = index + 1;
  }
  SKERRY_RETURN_IF_ERROR(inner.Decode(payload, decoded.values));
  return decoded;
}

}  // namespace skerry::compression
