#include "transport/fetch_wire.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"

namespace skerry::transport {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kPieceBytes = compression::kFramePayloadBytesMax;

// Offsets of docs/formats/bulk.md.
constexpr size_t kJobAt = 0;
constexpr size_t kSequenceAt = 8;
constexpr size_t kAttemptAt = 16;
constexpr size_t kHashAt = 24;
constexpr size_t kFragmentAt = 32;
constexpr size_t kSpanAt = 36;
constexpr size_t kKindAt = 40;
constexpr size_t kReservedAt = 41;

// A refusal begins with it; the offsets are of a refusal too.
constexpr std::string_view kRefusalMagic = "SKRN";
constexpr size_t kCodeAt = 4;
constexpr size_t kTextAt = 8;
constexpr auto kCodeMax =
    static_cast<uint32_t>(absl::StatusCode::kUnauthenticated);

compression::FrameKind PieceKind(PieceKey::Kind kind) {
  switch (kind) {
    case PieceKey::Kind::kBase:
      return compression::FrameKind::kBasePiece;
    case PieceKey::Kind::kResult:
      break;
    case PieceKey::Kind::kData:
      return compression::FrameKind::kDataPiece;
  }
  return compression::FrameKind::kStoredPiece;
}

compression::FrameHeader HeaderFor(const PieceKey& key) {
  const bool is_data = key.kind == PieceKey::Kind::kData;
  return {.kind = PieceKind(key.kind),
          .job = key.job.value(),
          .fragment = key.fragment,
          .sequence = is_data ? key.file : key.sequence.value(),
          .attempt = is_data ? key.offset_bytes : key.attempt.value(),
          .span = key.span};
}

}  // namespace

std::array<std::byte, kFetchKeyBytes> EncodeFetchKey(const PieceKey& key) {
  std::array<std::byte, kFetchKeyBytes> bytes = {};
  const auto put = [&bytes](size_t at, auto value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  };
  const compression::FrameHeader header = HeaderFor(key);
  put(kJobAt, header.job);
  put(kSequenceAt, header.sequence);
  put(kAttemptAt, header.attempt);
  put(kHashAt, key.hash);
  put(kFragmentAt, key.fragment);
  put(kSpanAt, key.span);
  put(kKindAt, static_cast<uint8_t>(key.kind));
  return bytes;
}

absl::StatusOr<PieceKey> DecodeFetchKey(std::span<const std::byte> bytes) {
  if (bytes.size() != kFetchKeyBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "fetch key has ", bytes.size(), " bytes, not ", kFetchKeyBytes));
  }
  PieceKey key;
  const auto get = [&bytes](size_t at, auto& value) {
    std::memcpy(&value, bytes.data() + at, sizeof(value));
  };
  uint64_t job = 0;
  uint64_t sequence = 0;
  uint64_t attempt = 0;
  get(kJobAt, job);
  get(kSequenceAt, sequence);
  get(kAttemptAt, attempt);
  get(kHashAt, key.hash);
  get(kFragmentAt, key.fragment);
  get(kSpanAt, key.span);
  const auto kind = static_cast<uint8_t>(bytes[kKindAt]);
  if (kind < static_cast<uint8_t>(PieceKey::Kind::kBase) ||
      kind > static_cast<uint8_t>(PieceKey::Kind::kData)) {
    return absl::InvalidArgumentError(
        absl::StrCat("fetch key of unknown kind ", kind));
  }
  key.kind = static_cast<PieceKey::Kind>(kind);
  key.job = JobId(job);
  if (key.kind == PieceKey::Kind::kData) {
    key.file = sequence;
    key.offset_bytes = attempt;
  } else {
    key.sequence = Sequence(sequence);
    key.attempt = Attempt(attempt);
  }
  const auto reserved = bytes.subspan(kReservedAt);
  if (std::any_of(reserved.begin(), reserved.end(),
                  [](std::byte b) { return b != std::byte{0}; })) {
    return absl::InvalidArgumentError("fetch key has reserved bytes set");
  }
  if (key.fragment >= compression::kFrameFragmentsMax ||
      key.span >= compression::kFrameSpansMax) {
    return absl::InvalidArgumentError("fetch key: span or fragment too large");
  }
  if (key.kind == PieceKey::Kind::kData &&
      (key.fragment != 0 || key.span != 0)) {
    return absl::InvalidArgumentError(
        "fetch key: data have no span and no fragment");
  }
  return key;
}

bool IsObjectOf(const PieceKey& key, std::span<const std::byte> object) {
  return key.kind == PieceKey::Kind::kData || Hash64(object) == key.hash;
}

uint32_t FetchPieceCount(uint64_t bytes) {
  const uint64_t count = (bytes + kPieceBytes - 1) / kPieceBytes;
  SKERRY_CHECK(count <= compression::kFramePartsMax);
  return std::max<uint32_t>(1, static_cast<uint32_t>(count));
}

Frame FetchPiece(const PieceKey& key, const SharedBytes& object,
                 uint32_t index) {
  const uint64_t begin = index * kPieceBytes;
  Frame piece;
  piece.payload =
      object.Part(begin, std::min(kPieceBytes, object.size() - begin));
  piece.header = HeaderFor(key);
  piece.header.part = index;
  piece.header.parts = FetchPieceCount(object.size());
  piece.header.payload_bytes = piece.payload.size();
  piece.header.payload_hash = Hash64(piece.payload.bytes());
  return piece;
}

std::vector<std::byte> EncodeFetchRefusal(const absl::Status& why) {
  SKERRY_CHECK(!why.ok());
  const auto code = static_cast<uint32_t>(why.code());
  std::string text(why.message().substr(0, kFetchRefusalBytesMax - kTextAt));
  for (char& c : text) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  std::vector<std::byte> bytes(kTextAt + text.size());
  std::memcpy(bytes.data(), kRefusalMagic.data(), kRefusalMagic.size());
  std::memcpy(bytes.data() + kCodeAt, &code, sizeof(code));
  std::memcpy(bytes.data() + kTextAt, text.data(), text.size());
  return bytes;
}

std::optional<absl::Status> DecodeFetchRefusal(
    std::span<const std::byte> bytes) {
  if (bytes.size() < kTextAt || bytes.size() > kFetchRefusalBytesMax ||
      std::memcmp(bytes.data(), kRefusalMagic.data(), kRefusalMagic.size()) !=
          0) {
    return std::nullopt;
  }
  uint32_t code = 0;
  std::memcpy(&code, bytes.data() + kCodeAt, sizeof(code));
  const std::span<const std::byte> tail = bytes.subspan(kTextAt);
  const std::string text(reinterpret_cast<const char*>(tail.data()),
                         tail.size());
  const bool prints = std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isprint(static_cast<unsigned char>(c));
  });
  if (code < 1 || code > kCodeMax || !prints) return std::nullopt;
  return absl::Status(static_cast<absl::StatusCode>(code), text);
}

FetchAssembler::FetchAssembler(const PieceKey& key, uint64_t object_bytes_max)
    : key_(key),
      object_bytes_max_(key.kind == PieceKey::Kind::kData
                            ? std::min(object_bytes_max, kDataChunkBytes)
                            : object_bytes_max) {}

absl::Status FetchAssembler::Add(const Frame& piece) {
  compression::FrameHeader expected = HeaderFor(key_);
  expected.part = received_;
  expected.parts = pieces_ == 0 ? piece.header.parts : pieces_;
  expected.payload_bytes = piece.header.payload_bytes;
  expected.payload_hash = piece.header.payload_hash;
  const bool is_last = received_ + 1 == expected.parts;
  if (piece.header != expected ||
      (!is_last && piece.payload.size() != kPieceBytes)) {
    return absl::DataLossError("a piece is out of turn or not of this object");
  }
  if (pieces_ == 0) {
    // The memory is not touched before its piece has come.
    const uint64_t room = piece.header.parts * kPieceBytes;
    if (room >= object_bytes_max_ + kPieceBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the object of ", room, " bytes is above the limit of ",
                       object_bytes_max_));
    }
    pieces_ = piece.header.parts;
    bytes_ = std::make_shared_for_overwrite<std::byte[]>(room);
  }
  std::copy(piece.payload.bytes().begin(), piece.payload.bytes().end(),
            bytes_.get() + filled_);
  filled_ += piece.payload.size();
  ++received_;
  return absl::OkStatus();
}

absl::StatusOr<SharedBytes> FetchAssembler::Finish() {
  if (!IsWhole()) {
    return absl::DataLossError(absl::StrCat(
        "the object ended after ", received_, " of ", pieces_, " pieces"));
  }
  const std::span<const std::byte> whole(bytes_.get(), filled_);
  if (!IsObjectOf(key_, whole)) {
    return absl::DataLossError("the object does not match its hash");
  }
  return SharedBytes(std::move(bytes_), whole);
}

}  // namespace skerry::transport
