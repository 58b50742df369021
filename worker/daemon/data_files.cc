#include "worker/daemon/data_files.h"

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/sha256.h"
#include "base/status.h"
#include "data/token_shard.h"

namespace skerry::worker {
namespace {

absl::StatusOr<uint64_t> LengthOf(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (!error) return bytes;
  return absl::NotFoundError(
      absl::StrCat("cannot open ", path, ": ", error.message()));
}

absl::Status CheckSmall(const std::string& path, uint64_t bytes) {
  if (bytes <= kSmallFileBytesMax) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(path, " has ", bytes, " bytes, at most ", kSmallFileBytesMax,
                   " are read"));
}

uint64_t DigitOf(char c) {
  return static_cast<uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
}

}  // namespace

std::vector<DataFile> ShardsOf(const data::Manifest& manifest) {
  std::vector<DataFile> shards;
  for (const data::ShardEntry& shard : manifest.shards) {
    shards.push_back(
        {.number = kFirstShardNumber + shards.size(),
         .name = shard.file,
         .bytes = data::kTokenShardHeaderBytes +
                  shard.tokens * data::ShardTokenBytes(manifest.vocab_size),
         .sha256 = shard.sha256});
  }
  return shards;
}

uint64_t ShortHash(const std::string& sha256) {
  SKERRY_CHECK(sha256.size() >= 16);
  uint64_t hash = 0;
  for (size_t byte = 8; byte-- > 0;) {
    hash = hash << 8 | DigitOf(sha256[2 * byte]) << 4 |
           DigitOf(sha256[2 * byte + 1]);
  }
  return hash;
}

absl::StatusOr<std::vector<DataFile>> FindDataSet(
    const std::string& folder, const std::string& manifest_sha256,
    const runtime::Files& files) {
  const std::string path =
      absl::StrCat(folder, "/", std::string(data::kManifestFile));
  SKERRY_ASSIGN_OR_RETURN(const uint64_t bytes, LengthOf(path));
  SKERRY_RETURN_IF_ERROR(CheckSmall(path, bytes));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> text, files.Read(path));
  const std::string found = Sha256Hex(text);
  if (found != manifest_sha256) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " has the SHA-256 ", found, ", not ", manifest_sha256));
  }
  SKERRY_ASSIGN_OR_RETURN(
      const data::Manifest manifest,
      data::ParseManifest(std::string_view(
          reinterpret_cast<const char*>(text.data()), text.size())));
  std::vector<DataFile> all = {{.number = kManifestNumber,
                                .name = std::string(data::kManifestFile),
                                .bytes = text.size(),
                                .sha256 = manifest_sha256}};
  if (!manifest.tokenizer_sha256.empty()) {
    const std::string tokenizer = absl::StrCat(folder, "/", manifest.tokenizer);
    SKERRY_ASSIGN_OR_RETURN(const uint64_t length, LengthOf(tokenizer));
    SKERRY_RETURN_IF_ERROR(CheckSmall(tokenizer, length));
    all.push_back({.number = kTokenizerNumber,
                   .name = manifest.tokenizer,
                   .bytes = length,
                   .sha256 = manifest.tokenizer_sha256});
  }
  for (DataFile& shard : ShardsOf(manifest)) {
    const std::string where = absl::StrCat(folder, "/", shard.name);
    SKERRY_ASSIGN_OR_RETURN(const uint64_t length, LengthOf(where));
    if (length != shard.bytes) {
      return absl::FailedPreconditionError(
          absl::StrCat(where, " has ", length, " bytes, and the manifest's ",
                       "tokens take ", shard.bytes));
    }
    all.push_back(std::move(shard));
  }
  return all;
}

}  // namespace skerry::worker
