#include "worker/daemon/data_set_copy.h"

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/sha256.h"
#include "base/status.h"

namespace skerry::worker {
namespace {

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

absl::StatusOr<data::Manifest> Parse(const std::vector<std::byte>& bytes) {
  return data::ParseManifest(std::string_view(
      reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace

DataSetCopy::DataSetCopy(std::string manifest_sha256, std::string folder,
                         runtime::Files& files, DataSource& source)
    : manifest_sha256_(std::move(manifest_sha256)),
      folder_(std::move(folder)),
      files_(files),
      source_(source) {}

std::string DataSetCopy::PathOf(const std::string& name) const {
  return absl::StrCat(folder_, "/", name);
}

absl::Status DataSetCopy::FromAny(
    absl::FunctionRef<Tried(const std::string& origin)> ask) const {
  const std::vector<std::string> origins = source_.Origins();
  if (origins.empty()) {
    return absl::UnavailableError("no worker that has the data set is there");
  }
  constexpr size_t kSaidMax = 3;  // operators read the line
  std::vector<std::string> said;
  absl::Status last;
  for (const std::string& origin : origins) {
    const Tried tried = ask(origin);
    if (tried.status.ok() || tried.is_own || absl::IsCancelled(tried.status)) {
      return tried.status;
    }
    last = source_.Named(origin, tried.status);
    source_.OnFailed(origin, last);
    if (said.size() < kSaidMax) said.emplace_back(last.message());
  }
  if (origins.size() > kSaidMax) {
    said.push_back(absl::StrCat("and ", origins.size() - kSaidMax,
                                " more workers do not give it"));
  }
  return absl::Status(last.code(), absl::StrJoin(said, "; "));
}

absl::Status DataSetCopy::Open() {
  SKERRY_ASSIGN_OR_RETURN(Small first,
                          Read({.number = kManifestNumber,
                                .name = std::string(data::kManifestFile),
                                .sha256 = manifest_sha256_}));
  SKERRY_ASSIGN_OR_RETURN(const data::Manifest manifest, Parse(first.bytes));
  small_.clear();
  small_.push_back(std::move(first));
  if (!manifest.tokenizer_sha256.empty()) {
    SKERRY_ASSIGN_OR_RETURN(Small tokenizer,
                            Read({.number = kTokenizerNumber,
                                  .name = manifest.tokenizer,
                                  .sha256 = manifest.tokenizer_sha256}));
    small_.push_back(std::move(tokenizer));
  }
  shards_ = ShardsOf(manifest);
  return absl::OkStatus();
}

absl::StatusOr<DataSetCopy::Small> DataSetCopy::Read(const File& file) const {
  absl::StatusOr<std::vector<std::byte>> here = files_.Read(PathOf(file.name));
  Small small{file, {}, false};
  if (here.ok() && Sha256Hex(*here) == file.sha256) {
    small.bytes = *std::move(here);
  } else {
    small.is_new = true;
    SKERRY_RETURN_IF_ERROR(FromAny([&](const std::string& origin) {
      return Tried{ReadAt(origin, small)};
    }));
  }
  small.file.bytes = small.bytes.size();
  return small;
}

absl::Status DataSetCopy::ReadAt(const std::string& origin,
                                 Small& small) const {
  small.bytes.clear();
  const std::string& name = small.file.name;
  const auto take = [&](runtime::ByteSpan piece) -> absl::Status {
    if (small.bytes.size() + piece.size() > kSmallFileBytesMax) {
      return absl::DataLossError(
          absl::StrCat(name, " has more than ", kSmallFileBytesMax, " bytes"));
    }
    small.bytes.insert(small.bytes.end(), piece.begin(), piece.end());
    return absl::OkStatus();
  };
  SKERRY_RETURN_IF_ERROR(source_.Read(origin, small.file, take));
  const std::string found = Sha256Hex(small.bytes);
  return found == small.file.sha256 ? absl::OkStatus()
                                    : OtherHash(name, found, small.file.sha256);
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
  return FromAny([&](const std::string& origin) {
    return FetchAt(origin, file, on_bytes);
  });
}

DataSetCopy::Tried DataSetCopy::FetchAt(
    const std::string& origin, const File& file,
    const std::function<absl::Status(size_t bytes)>& on_bytes) const {
  auto sink = files_.Create(PathOf(file.name));
  if (!sink.ok()) return {sink.status(), /*is_own=*/true};
  Sha256 sha;
  uint64_t bytes = 0;
  absl::Status own;  // of this worker's disk, and of whoever counts
  const auto take = [&](runtime::ByteSpan piece) -> absl::Status {
    bytes += piece.size();
    if (bytes > file.bytes) {
      return absl::DataLossError(
          absl::StrCat(file.name, " is longer than the ", file.bytes,
                       " bytes that the manifest's tokens take; copy the data "
                       "set there again"));
    }
    sha.Update(piece);
    own = (*sink)->Append(piece);
    if (own.ok()) own = on_bytes(piece.size());
    return own;
  };
  const absl::Status read = source_.Read(origin, file, take);
  if (!own.ok()) return {own, /*is_own=*/true};
  if (!read.ok()) return {read};
  if (bytes != file.bytes) {
    return {absl::DataLossError(absl::StrCat(
        file.name, " has ", bytes, " bytes, and the manifest's tokens take ",
        file.bytes, "; copy the data set there again"))};
  }
  const std::string found = std::move(sha).HexDigest();
  if (found != file.sha256) return {OtherHash(file.name, found, file.sha256)};
  return {(*sink)->Commit(), /*is_own=*/true};
}

}  // namespace skerry::worker
