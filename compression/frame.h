// compression/frame.h
//
// Reads and writes the fixed header of a bulk frame. It says which part of
// which span of which attempt the payload is, and has a checksum for itself and
// one for the payload. docs/formats/frame.md has the byte layout.
//
// A frame is what one worker sends another in one piece. A span's encoded bytes
// are cut into `parts` payloads in order. The receiver joins them before it
// decodes.
#ifndef SKERRY_COMPRESSION_FRAME_H_
#define SKERRY_COMPRESSION_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/codec.h"

namespace skerry::compression {

enum class FrameKind : uint8_t {
  kContribution = 1,  // a member's encoded owed, to the owner of the span
  kResult = 2,        // the owner's encoded mean, to every member
  kBasePiece = 3,     // part of a base, to a joiner
  kStoredPiece = 4,   // part of a stored result, to whoever fetches it
  kDataPiece = 5,     // part of a data set's file, likewise
};

struct FrameHeader {
  FrameKind kind = FrameKind::kContribution;
  CodecId codec = CodecId::kRawF32;
  uint64_t job = 0;
  uint32_t fragment = 0;
  uint64_t sequence = 0;
  uint64_t attempt = 0;
  uint64_t sender = 0;  // replica id
  uint32_t span = 0;
  uint32_t part = 0;
  uint32_t parts = 1;
  uint64_t element_count = 0;  // of the whole span, not of this part
  uint64_t payload_bytes = 0;
  uint64_t payload_hash = 0;

  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

inline constexpr size_t kFrameHeaderBytes = 88;

// Bounds that a receiver may rely on before it allocates anything.
inline constexpr uint64_t kFramePayloadBytesMax = uint64_t{1} << 20;
inline constexpr uint32_t kFramePartsMax = uint32_t{1} << 20;
inline constexpr uint32_t kFrameSpansMax = uint32_t{1} << 20;
inline constexpr uint32_t kFrameFragmentsMax = uint32_t{1} << 16;
inline constexpr uint64_t kFrameElementsMax = uint64_t{1} << 36;

// Writes `header` with magic, version and its own hash. Requires: every field
// is inside the bounds that ReadFrameHeader tests.
void WriteFrameHeader(const FrameHeader& header,
                      std::span<std::byte, kFrameHeaderBytes> out);

// Reads the header at the start of `bytes`; what follows it is not looked at.
//
// Errors: DataLoss when `bytes` is too short, the header hash, magic or version
// does not match, or a field is out of its bounds.
absl::StatusOr<FrameHeader> ReadFrameHeader(std::span<const std::byte> bytes);

// Errors: DataLoss unless `payload` has the size and the hash that the header
// promises.
absl::Status CheckPayload(const FrameHeader& header,
                          std::span<const std::byte> payload);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_FRAME_H_
