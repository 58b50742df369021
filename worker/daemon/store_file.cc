#include "worker/daemon/store_file.h"

#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"

namespace skerry::worker {
namespace {

// docs/formats/worker_store.md; all numbers are little-endian.
constexpr uint32_t kMagic = 0x54534b53;  // "SKST"
constexpr uint32_t kVersion = 1;
// A file of this version has the hash of the initial values after the head.
constexpr uint32_t kInitialVersion = 2;
constexpr size_t kHeadBytes = 40;
constexpr size_t kInitialHeadBytes = 48;
constexpr size_t kEntryBytes = 32;
constexpr size_t kHashBytes = 8;
// Contents start and follow each other on this boundary.
constexpr size_t kAlignment = 64;
constexpr uint32_t kPiecesMax = 1u << 20;
constexpr uint64_t kFragmentMax = 1u << 16;
constexpr char kSuffix[] = ".skerry";

constexpr std::array<std::byte, kAlignment> kPadding{};

size_t Align(size_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

size_t HeadBytes(uint32_t version) {
  return version == kInitialVersion ? kInitialHeadBytes : kHeadBytes;
}

template <typename T>
void Put(std::vector<std::byte>& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

template <typename T>
T Get(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

absl::Status Damaged(const char* what) {
  return absl::DataLossError(absl::StrCat("not a whole store file: ", what));
}

absl::Status CheckHead(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeadBytes + kHashBytes) return Damaged("too short");
  if (Get<uint32_t>(bytes, 0) != kMagic) return Damaged("wrong magic");
  const uint32_t version = Get<uint32_t>(bytes, 4);
  if (version != kVersion && version != kInitialVersion) {
    return Damaged("unknown version");
  }
  const uint32_t kind = Get<uint32_t>(bytes, 8);
  if (kind != 1 && kind != 2) return Damaged("unknown kind");
  const uint32_t pieces = Get<uint32_t>(bytes, 12);
  if (pieces == 0 || pieces > kPiecesMax) return Damaged("number of pieces");
  const size_t table_end = HeadBytes(version) + pieces * kEntryBytes;
  if (bytes.size() < table_end + kHashBytes) return Damaged("too short");
  if (Hash64(bytes.first(table_end)) != Get<uint64_t>(bytes, table_end)) {
    return Damaged("header hash");
  }
  return absl::OkStatus();
}

std::string NameToFirstSpan(const StoredFile& file) {
  // Names of the first fragment carry no fragment number, so that files stored
  // before jobs had several fragments are found.
  const std::string first =
      file.fragment == 0
          ? absl::StrCat(file.pieces.front().span)
          : absl::StrCat("f", file.fragment, "-", file.pieces.front().span);
  if (file.kind == PieceKey::Kind::kBase) {
    const std::string values =
        file.initial_hash == 0
            ? ""
            : absl::StrCat("i", absl::Hex(file.initial_hash, absl::kZeroPad16),
                           "-");
    return absl::StrCat("base-", file.sequence.value(), "-", values, first);
  }
  return absl::StrCat("result-", file.sequence.value(), "-",
                      file.attempt.value(), "-", first);
}

}  // namespace

std::vector<std::byte> EncodeStoreHeader(
    const StoredFile& file, std::span<const SharedBytes> contents) {
  SKERRY_CHECK(!file.pieces.empty() && file.pieces.size() == contents.size());
  const uint32_t version = file.initial_hash == 0 ? kVersion : kInitialVersion;
  const size_t head = HeadBytes(version);
  const size_t table_end = head + file.pieces.size() * kEntryBytes;
  std::vector<std::byte> bytes(Align(table_end + kHashBytes));
  Put<uint32_t>(bytes, 0, kMagic);
  Put<uint32_t>(bytes, 4, version);
  Put<uint32_t>(bytes, 8, static_cast<uint32_t>(file.kind));
  Put<uint32_t>(bytes, 12, static_cast<uint32_t>(file.pieces.size()));
  Put<uint64_t>(bytes, 16, file.sequence.value());
  Put<uint64_t>(bytes, 24, file.attempt.value());
  Put<uint64_t>(bytes, 32, file.fragment);
  if (version == kInitialVersion) {
    Put<uint64_t>(bytes, kHeadBytes, file.initial_hash);
  }
  uint64_t offset = bytes.size();
  for (size_t i = 0; i < file.pieces.size(); ++i) {
    const size_t entry = head + i * kEntryBytes;
    Put<uint32_t>(bytes, entry, file.pieces[i].span);
    Put<uint64_t>(bytes, entry + 8, file.pieces[i].hash);
    Put<uint64_t>(bytes, entry + 16, offset);
    Put<uint64_t>(bytes, entry + 24, contents[i].size());
    offset = Align(offset + contents[i].size());
  }
  Put<uint64_t>(bytes, table_end,
                Hash64(std::span<const std::byte>(bytes).first(table_end)));
  return bytes;
}

std::span<const std::byte> StorePadding(size_t content_bytes) {
  return std::span(kPadding).first(Align(content_bytes) - content_bytes);
}

absl::StatusOr<StoreHeader> DecodeStoreHeader(
    std::span<const std::byte> bytes) {
  if (absl::Status status = CheckHead(bytes); !status.ok()) return status;
  StoreHeader header;
  header.file.kind = static_cast<PieceKey::Kind>(Get<uint32_t>(bytes, 8));
  header.file.sequence = Sequence(Get<uint64_t>(bytes, 16));
  header.file.attempt = Attempt(Get<uint64_t>(bytes, 24));
  const uint64_t fragment = Get<uint64_t>(bytes, 32);
  if (fragment > kFragmentMax) return Damaged("fragment");
  header.file.fragment = static_cast<uint32_t>(fragment);
  const uint32_t version = Get<uint32_t>(bytes, 4);
  if (version == kInitialVersion) {
    header.file.initial_hash = Get<uint64_t>(bytes, kHeadBytes);
    if (header.file.kind != PieceKey::Kind::kBase ||
        header.file.initial_hash == 0) {
      return Damaged("hash of initial values");
    }
  }
  const uint32_t pieces = Get<uint32_t>(bytes, 12);
  for (uint32_t i = 0; i < pieces; ++i) {
    const size_t entry = HeadBytes(version) + i * kEntryBytes;
    const StoredFile::Piece piece{Get<uint32_t>(bytes, entry),
                                  Get<uint64_t>(bytes, entry + 8)};
    const PieceExtent extent{Get<uint64_t>(bytes, entry + 16),
                             Get<uint64_t>(bytes, entry + 24)};
    if (i > 0 && header.file.pieces.back().span >= piece.span) {
      return Damaged("order of spans");
    }
    if (extent.offset > bytes.size() ||
        extent.size > bytes.size() - extent.offset) {
      return Damaged("cut short");
    }
    header.file.pieces.push_back(piece);
    header.extents.push_back(extent);
  }
  return header;
}

std::string StoreFileName(const StoredFile& file) {
  SKERRY_CHECK(!file.pieces.empty());
  return absl::StrCat(NameToFirstSpan(file), "-", file.pieces.back().span,
                      kSuffix);
}

std::string FormerStoreFileName(const StoredFile& file) {
  SKERRY_CHECK(!file.pieces.empty());
  return absl::StrCat(NameToFirstSpan(file), kSuffix);
}

}  // namespace skerry::worker
