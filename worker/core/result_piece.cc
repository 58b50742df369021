#include "worker/core/result_piece.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "compression/workspace.h"

namespace skerry::worker {
namespace {

constexpr size_t kHeadBytes = 8;
constexpr size_t kEntryBytes = 16;
constexpr uint8_t kVersion = 1;

struct EncodedPayload {
  compression::CodecId codec = compression::CodecId::kRawF32;
  std::span<const std::byte> bytes;
};

struct Parsed {
  PieceShape shape = PieceShape::kMean;
  std::vector<EncodedPayload> payloads;
};

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("result piece: ", what));
}

void PutU64(uint64_t value, std::byte* out) {
  for (int i = 0; i < 8; ++i) {
    out[i] = static_cast<std::byte>(value >> (8 * i));
  }
}

uint64_t GetU64(const std::byte* in) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i)
    value |= std::to_integer<uint64_t>(in[i]) << 8 * i;
  return value;
}

absl::StatusOr<Parsed> Parse(std::span<const std::byte> piece) {
  if (piece.size() < kHeadBytes) return Damaged("shorter than its head");
  if (std::memcmp(piece.data(), "SKR", 3) != 0 ||
      std::to_integer<uint8_t>(piece[3]) != kVersion) {
    return Damaged("not of a known version");
  }
  Parsed parsed;
  const auto shape = std::to_integer<uint8_t>(piece[4]);
  const auto count = std::to_integer<uint8_t>(piece[5]);
  if (shape != 1 && shape != 2) return Damaged("unknown shape");
  if (piece[6] != std::byte{0} || piece[7] != std::byte{0}) {
    return Damaged("reserved bytes are set");
  }
  parsed.shape = static_cast<PieceShape>(shape);
  if (count == 0 || count > kPiecePayloadsMax ||
      (parsed.shape == PieceShape::kMean && count != 1)) {
    return Damaged("wrong count of payloads");
  }
  size_t at = kHeadBytes + count * kEntryBytes;
  if (piece.size() < at) return Damaged("cut inside its table");
  for (size_t i = 0; i < count; ++i) {
    const std::byte* entry = piece.data() + kHeadBytes + i * kEntryBytes;
    const uint64_t codec = GetU64(entry);
    const uint64_t bytes = GetU64(entry + 8);
    if (codec > 255) return Damaged("unknown codec");
    if (bytes > piece.size() - at) return Damaged("cut inside a payload");
    parsed.payloads.push_back(
        {static_cast<compression::CodecId>(codec), piece.subspan(at, bytes)});
    at += bytes;
  }
  if (at != piece.size()) return Damaged("bytes after the last payload");
  return parsed;
}

}  // namespace

std::vector<std::byte> WriteResultPiece(
    PieceShape shape, std::span<const PiecePayload> payloads) {
  SKERRY_CHECK(!payloads.empty() && payloads.size() <= kPiecePayloadsMax);
  SKERRY_CHECK(shape == PieceShape::kMembers || payloads.size() == 1);
  std::vector<std::byte> head(kHeadBytes + payloads.size() * kEntryBytes);
  std::memcpy(head.data(), "SKR", 3);
  head[3] = std::byte{kVersion};
  head[4] = static_cast<std::byte>(shape);
  head[5] = static_cast<std::byte>(payloads.size());
  size_t size = head.size();
  for (size_t i = 0; i < payloads.size(); ++i) {
    uint64_t bytes = 0;
    for (const SharedBytes& part : payloads[i].parts) bytes += part.size();
    std::byte* entry = head.data() + kHeadBytes + i * kEntryBytes;
    PutU64(static_cast<uint64_t>(payloads[i].codec), entry);
    PutU64(bytes, entry + 8);
    size += bytes;
  }
  std::vector<std::byte> piece;
  piece.reserve(size);
  const auto append = [&piece](std::span<const std::byte> bytes) {
    piece.insert(piece.end(), bytes.begin(), bytes.end());
  };
  append(head);
  for (const PiecePayload& payload : payloads) {
    for (const SharedBytes& part : payload.parts) append(part.bytes());
  }
  return piece;
}

absl::Status DecodeMean(std::span<const std::byte> piece, double total_weight,
                        std::span<float> mean) {
  SKERRY_ASSIGN_OR_RETURN(const Parsed parsed, Parse(piece));
  compression::Workspace& workspace = compression::ThreadWorkspace();
  bool first = true;
  for (const EncodedPayload& payload : parsed.payloads) {
    const auto codec = compression::FindCodec(payload.codec);
    if (!codec.ok()) return Damaged(codec.status().message());
    SKERRY_RETURN_IF_ERROR(
        first ? (*codec)->Decode(payload.bytes, mean, workspace)
              : (*codec)->DecodeAdd(payload.bytes, mean, workspace));
    first = false;
  }
  if (parsed.shape == PieceShape::kMean) return absl::OkStatus();
  const float weight = static_cast<float>(total_weight);
  for (float& value : mean) value /= weight;
  return absl::OkStatus();
}

}  // namespace skerry::worker
