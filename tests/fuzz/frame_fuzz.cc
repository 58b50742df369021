// Any bytes as a bulk frame: a header that is accepted keeps its bounds and is
// written back to the same bytes.
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "compression/frame.h"

namespace skerry::compression {
namespace {

void CheckFrame(std::span<const std::byte> frame) {
  const auto header = ReadFrameHeader(frame);
  if (!header.ok()) return;
  SKERRY_CHECK(header->part < header->parts);
  SKERRY_CHECK(header->payload_bytes <= kFramePayloadBytesMax);
  SKERRY_CHECK(FindCodec(header->codec).ok());
  std::array<std::byte, kFrameHeaderBytes> written;
  WriteFrameHeader(*header, written);
  SKERRY_CHECK(std::memcmp(written.data(), frame.data(), written.size()) == 0);
  CheckPayload(*header, frame.subspan(kFrameHeaderBytes)).IgnoreError();
}

}  // namespace
}  // namespace skerry::compression

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using skerry::compression::kFrameHeaderBytes;
  const auto bytes = std::as_bytes(std::span(data, size));
  skerry::compression::CheckFrame(bytes);
  if (size < kFrameHeaderBytes) return 0;
  // The same bytes with a hash that fits, or no field would ever be reached.
  std::vector<std::byte> forged(bytes.begin(), bytes.end());
  constexpr size_t kHashAt = kFrameHeaderBytes - sizeof(uint64_t);
  const uint64_t hash = skerry::Hash64(std::span(forged).first(kHashAt));
  std::memcpy(forged.data() + kHashAt, &hash, sizeof(hash));
  skerry::compression::CheckFrame(forged);
  return 0;
}
