#include "worker/daemon/data_set_copy.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status.h"
#include "data/token_shard.h"

namespace skerry::worker {
namespace {

constexpr size_t kSmallBytesMax = 64 << 20;
constexpr size_t kReadBytes = 1 << 20;

absl::Status OtherHash(const std::string& name, const std::string& found,
                       const std::string& wanted) {
  return absl::DataLossError(absl::StrCat(
      name, " has the SHA-256 ", found, ", not ", wanted,
      name == data::kManifestFile ? ", as the manifest that the job was "
                                    "submitted with; submit the job anew, or "
                                  : ", as the manifest names it; ",
      "copy the data set there again"));
}

// Says what to do about a file that the store does not have or does not give.
absl::Status WithAdvice(const absl::Status& status) {
  const char* advice = nullptr;
  if (absl::IsNotFound(status)) advice = "; copy the data set there";
  if (absl::IsPermissionDenied(status)) {
    advice = "; check this worker's keys and what they may read";
  }
  if (advice == nullptr) return status;
  return absl::Status(status.code(), absl::StrCat(status.message(), advice));
}

absl::StatusOr<data::Manifest> Parse(const std::vector<std::byte>& bytes) {
  return data::ParseManifest(std::string_view(
      reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace

DataSetCopy::DataSetCopy(std::string place, std::string manifest_sha256,
                         std::string folder, runtime::Files& files,
                         runtime::BlobStores& places)
    : place_(std::move(place)),
      manifest_sha256_(std::move(manifest_sha256)),
      folder_(std::move(folder)),
      files_(files),
      places_(places) {}

std::string DataSetCopy::PathOf(const std::string& name) const {
  return absl::StrCat(folder_, "/", name);
}

absl::Status DataSetCopy::Open() {
  SKERRY_ASSIGN_OR_RETURN(
      Small first, Read(std::string(data::kManifestFile), manifest_sha256_));
  SKERRY_ASSIGN_OR_RETURN(const data::Manifest manifest, Parse(first.bytes));
  small_.clear();
  small_.push_back(std::move(first));
  if (!manifest.tokenizer_sha256.empty()) {
    SKERRY_ASSIGN_OR_RETURN(
        Small tokenizer, Read(manifest.tokenizer, manifest.tokenizer_sha256));
    small_.push_back(std::move(tokenizer));
  }
  shards_ = ShardsOf(manifest);
  return absl::OkStatus();
}

std::vector<DataSetCopy::File> DataSetCopy::ShardsOf(
    const data::Manifest& manifest) {
  std::vector<File> shards;
  for (const data::ShardEntry& shard : manifest.shards) {
    shards.push_back(
        {.name = shard.file,
         .bytes = data::kTokenShardHeaderBytes +
                  shard.tokens * data::ShardTokenBytes(manifest.vocab_size),
         .sha256 = shard.sha256});
  }
  return shards;
}

bool DataSetCopy::SeemsWhole() const {
  std::error_code error;
  const auto bytes = files_.Read(PathOf(std::string(data::kManifestFile)));
  if (!bytes.ok()) return false;
  const absl::StatusOr<data::Manifest> manifest = Parse(*bytes);
  if (!manifest.ok()) return false;
  if (!manifest->tokenizer_sha256.empty() &&
      !std::filesystem::exists(PathOf(manifest->tokenizer), error)) {
    return false;
  }
  const std::vector<File> shards = ShardsOf(*manifest);
  return std::all_of(shards.begin(), shards.end(),
                     [this](const File& shard) { return HasLength(shard); });
}

absl::StatusOr<DataSetCopy::Small> DataSetCopy::Read(
    const std::string& name, const std::string& sha256) const {
  absl::StatusOr<std::vector<std::byte>> here = files_.Read(PathOf(name));
  if (here.ok() && Sha256Hex(*here) == sha256) {
    const uint64_t bytes = here->size();
    return Small{{name, bytes, sha256}, *std::move(here), false};
  }
  return ReadInStore(name, sha256);
}

absl::StatusOr<DataSetCopy::Small> DataSetCopy::ReadInStore(
    const std::string& name, const std::string& sha256) const {
  SKERRY_ASSIGN_OR_RETURN(const auto store, places_.Open(place_));
  Small small{{name, 0, sha256}, {}, true};
  const auto take = [&](runtime::ByteSpan piece) -> absl::Status {
    if (small.bytes.size() + piece.size() > kSmallBytesMax) {
      return absl::DataLossError(
          absl::StrCat(name, " has more than ", kSmallBytesMax, " bytes"));
    }
    small.bytes.insert(small.bytes.end(), piece.begin(), piece.end());
    return absl::OkStatus();
  };
  SKERRY_RETURN_IF_ERROR(WithAdvice(store->Read(name, take)));
  const std::string found = Sha256Hex(small.bytes);
  if (found != sha256) return OtherHash(name, found, sha256);
  small.file.bytes = small.bytes.size();
  return small;
}

std::vector<DataSetCopy::File> DataSetCopy::SmallFiles() const {
  std::vector<File> files;
  for (const Small& small : small_) files.push_back(small.file);
  return files;
}

absl::Status DataSetCopy::WriteSmall() {
  SKERRY_RETURN_IF_ERROR(files_.MakeDirectory(folder_));
  for (Small& small : small_) {
    if (small.is_new) {
      SKERRY_RETURN_IF_ERROR(
          files_.WriteDurably(PathOf(small.file.name), small.bytes));
    }
    // Nobody reads them here any more.
    small.is_new = false;
    small.bytes = {};
  }
  return absl::OkStatus();
}

bool DataSetCopy::HasLength(const File& file) const {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(PathOf(file.name), error);
  return !error && bytes == file.bytes;
}

bool DataSetCopy::IsRight(const File& file) const {
  const auto source = files_.Open(PathOf(file.name));
  if (!source.ok()) return false;
  std::vector<std::byte> piece(kReadBytes);
  Sha256 sha;
  uint64_t bytes = 0;
  for (;;) {
    const absl::StatusOr<size_t> some = (*source)->Read(piece);
    if (!some.ok()) return false;
    if (*some == 0) break;
    bytes += *some;
    sha.Update(std::span(piece).first(*some));
  }
  return bytes == file.bytes && std::move(sha).HexDigest() == file.sha256;
}

absl::Status DataSetCopy::Fetch(
    const File& file,
    const std::function<absl::Status(size_t bytes)>& on_bytes) const {
  SKERRY_ASSIGN_OR_RETURN(const auto store, places_.Open(place_));
  SKERRY_ASSIGN_OR_RETURN(const auto sink, files_.Create(PathOf(file.name)));
  Sha256 sha;
  uint64_t bytes = 0;
  const auto take = [&](runtime::ByteSpan piece) -> absl::Status {
    bytes += piece.size();
    if (bytes > file.bytes) {
      return absl::DataLossError(
          absl::StrCat(file.name, " is longer than the ", file.bytes,
                       " bytes that the manifest's tokens take; copy the data "
                       "set there again"));
    }
    sha.Update(piece);
    SKERRY_RETURN_IF_ERROR(sink->Append(piece));
    return on_bytes(piece.size());
  };
  SKERRY_RETURN_IF_ERROR(WithAdvice(store->Read(file.name, take)));
  if (bytes != file.bytes) {
    return absl::DataLossError(absl::StrCat(file.name, " has ", bytes,
                                            " bytes, and the manifest's "
                                            "tokens take ",
                                            file.bytes,
                                            "; copy the data set there again"));
  }
  const std::string found = std::move(sha).HexDigest();
  if (found != file.sha256) return OtherHash(file.name, found, file.sha256);
  return sink->Commit();
}

}  // namespace skerry::worker
