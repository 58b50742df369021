#include "compression/frame.h"

#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"

namespace skerry::compression {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint32_t kMagic = 0x46524b53;  // "SKRF" in memory order
constexpr uint8_t kVersion = 1;

// Offsets of docs/formats/frame.md.
constexpr size_t kMagicAt = 0;
constexpr size_t kVersionAt = 4;
constexpr size_t kKindAt = 5;
constexpr size_t kCodecAt = 6;
constexpr size_t kReservedAt = 7;
constexpr size_t kJobAt = 8;
constexpr size_t kSequenceAt = 16;
constexpr size_t kAttemptAt = 24;
constexpr size_t kSenderAt = 32;
constexpr size_t kElementCountAt = 40;
constexpr size_t kPayloadBytesAt = 48;
constexpr size_t kPayloadHashAt = 56;
constexpr size_t kFragmentAt = 64;
constexpr size_t kSpanAt = 68;
constexpr size_t kPartAt = 72;
constexpr size_t kPartsAt = 76;
constexpr size_t kHeaderHashAt = 80;
static_assert(kHeaderHashAt + sizeof(uint64_t) == kFrameHeaderBytes);

template <typename T>
void Put(std::span<std::byte> out, size_t at, T value) {
  std::memcpy(out.data() + at, &value, sizeof(value));
}

template <typename T>
T Get(std::span<const std::byte> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// What is out of bounds, or null.
const char* OutOfBounds(const FrameHeader& header) {
  const int kind = static_cast<int>(header.kind);
  if (kind < static_cast<int>(FrameKind::kContribution) ||
      kind > static_cast<int>(FrameKind::kDataPiece)) {
    return "kind";
  }
  if (!FindCodec(header.codec).ok()) return "codec";
  if (header.fragment >= kFrameFragmentsMax) return "fragment";
  if (header.span >= kFrameSpansMax) return "span";
  if (header.parts == 0 || header.parts > kFramePartsMax) return "parts";
  if (header.part >= header.parts) return "part";
  if (header.element_count > kFrameElementsMax) return "element count";
  if (header.payload_bytes > kFramePayloadBytesMax) return "payload bytes";
  return nullptr;
}

}  // namespace

void WriteFrameHeader(const FrameHeader& header,
                      std::span<std::byte, kFrameHeaderBytes> out) {
  SKERRY_CHECK(OutOfBounds(header) == nullptr);
  Put(out, kMagicAt, kMagic);
  Put(out, kVersionAt, kVersion);
  Put(out, kKindAt, static_cast<uint8_t>(header.kind));
  Put(out, kCodecAt, static_cast<uint8_t>(header.codec));
  Put(out, kReservedAt, uint8_t{0});
  Put(out, kJobAt, header.job);
  Put(out, kSequenceAt, header.sequence);
  Put(out, kAttemptAt, header.attempt);
  Put(out, kSenderAt, header.sender);
  Put(out, kElementCountAt, header.element_count);
  Put(out, kPayloadBytesAt, header.payload_bytes);
  Put(out, kPayloadHashAt, header.payload_hash);
  Put(out, kFragmentAt, header.fragment);
  Put(out, kSpanAt, header.span);
  Put(out, kPartAt, header.part);
  Put(out, kPartsAt, header.parts);
  Put(out, kHeaderHashAt, Hash64(out.first(kHeaderHashAt)));
}

absl::StatusOr<FrameHeader> ReadFrameHeader(std::span<const std::byte> bytes) {
  if (bytes.size() < kFrameHeaderBytes) {
    return absl::DataLossError(absl::StrCat("frame of ", bytes.size(),
                                            " bytes is shorter than a header"));
  }
  if (Get<uint32_t>(bytes, kMagicAt) != kMagic) {
    return absl::DataLossError("frame does not start with the magic number");
  }
  if (const auto version = Get<uint8_t>(bytes, kVersionAt);
      version != kVersion) {
    return absl::DataLossError(
        absl::StrCat("frame version ", version, " is not ", kVersion));
  }
  if (Get<uint64_t>(bytes, kHeaderHashAt) !=
      Hash64(bytes.first(kHeaderHashAt))) {
    return absl::DataLossError("frame header does not match its hash");
  }
  const FrameHeader header{
      .kind = static_cast<FrameKind>(Get<uint8_t>(bytes, kKindAt)),
      .codec = static_cast<CodecId>(Get<uint8_t>(bytes, kCodecAt)),
      .job = Get<uint64_t>(bytes, kJobAt),
      .fragment = Get<uint32_t>(bytes, kFragmentAt),
      .sequence = Get<uint64_t>(bytes, kSequenceAt),
      .attempt = Get<uint64_t>(bytes, kAttemptAt),
      .sender = Get<uint64_t>(bytes, kSenderAt),
      .span = Get<uint32_t>(bytes, kSpanAt),
      .part = Get<uint32_t>(bytes, kPartAt),
      .parts = Get<uint32_t>(bytes, kPartsAt),
      .element_count = Get<uint64_t>(bytes, kElementCountAt),
      .payload_bytes = Get<uint64_t>(bytes, kPayloadBytesAt),
      .payload_hash = Get<uint64_t>(bytes, kPayloadHashAt)};
  const char* wrong = Get<uint8_t>(bytes, kReservedAt) != 0
                          ? "reserved byte"
                          : OutOfBounds(header);
  if (wrong != nullptr) {
    return absl::DataLossError(
        absl::StrCat("frame header: ", wrong, " is out of bounds"));
  }
  return header;
}

absl::Status CheckPayload(const FrameHeader& header,
                          std::span<const std::byte> payload) {
  if (payload.size() != header.payload_bytes) {
    return absl::DataLossError(
        absl::StrCat("frame payload has ", payload.size(),
                     " bytes where its header says ", header.payload_bytes));
  }
  if (Hash64(payload) != header.payload_hash) {
    return absl::DataLossError("frame payload does not match its hash");
  }
  return absl::OkStatus();
}

}  // namespace skerry::compression
