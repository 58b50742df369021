#include "checkpoint/checkpoint_store.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status.h"

namespace skerry::checkpoint {
namespace {

constexpr std::string_view kNamePrefix = "checkpoint-";
constexpr std::string_view kPin = "pinned";

std::string Key(const std::string& name, std::string_view file) {
  return absl::StrCat(name, "/", std::string(file));
}

// Nothing when it is no name of a checkpoint.
std::optional<uint64_t> SequenceOf(const std::string& name) {
  uint64_t sequence = 0;
  if (!name.starts_with(kNamePrefix) ||
      !absl::SimpleAtoi(name.substr(kNamePrefix.size()), &sequence) ||
      CheckpointName(sequence) != name) {
    return std::nullopt;
  }
  return sequence;
}

// Whether what is listed may lie in one folder with checkpoints of that job.
absl::Status CheckOwner(const Listed& one, const Manifest& about) {
  if (!one.status.ok() ||
      (one.manifest.job == about.job && one.manifest.job_id == about.job_id)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the folder has checkpoints of job ", one.manifest.job, " (number ",
      one.manifest.job_id, "), not of ", about.job, " (number ", about.job_id,
      "); give each job a folder of its own"));
}

absl::Status Damaged(const std::string& key, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(key, " ", what));
}

constexpr char kOtherHash[] = "does not have the hash that the manifest names";

}  // namespace

std::string CheckpointName(uint64_t sequence) {
  return absl::StrCat(std::string(kNamePrefix), sequence);
}

CheckpointWriter::CheckpointWriter(runtime::BlobStore& blobs, Manifest manifest)
    : blobs_(&blobs), manifest_(std::move(manifest)) {}

absl::Status CheckpointWriter::Add(const std::string& file,
                                   runtime::ByteSpan bytes) {
  manifest_.files.push_back({file, bytes.size(), Sha256Hex(bytes)});
  SKERRY_RETURN_IF_ERROR(ValidateManifest(manifest_));
  return blobs_->Put(Key(CheckpointName(manifest_.sequence), file), bytes);
}

absl::Status CheckpointWriter::Seal() {
  SKERRY_RETURN_IF_ERROR(ValidateManifest(manifest_));
  const std::string text = SerializeManifest(manifest_);
  return blobs_->Put(Key(CheckpointName(manifest_.sequence), kManifestFile),
                     std::as_bytes(std::span(text)));
}

absl::Status CheckpointStore::CheckUsable(const Manifest& about,
                                          const std::string& writer) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Listed> all, List());
  for (const Listed& one : all) {
    SKERRY_RETURN_IF_ERROR(CheckOwner(one, about));
  }
  const std::string probe = absl::StrCat("probe-", writer);
  SKERRY_RETURN_IF_ERROR(blobs_.Put(probe, {}));
  return blobs_.Delete(probe);
}

absl::StatusOr<CheckpointWriter> CheckpointStore::Begin(Manifest about) {
  about.files.clear();
  SKERRY_RETURN_IF_ERROR(ValidateManifest(about));
  SKERRY_RETURN_IF_ERROR(blobs_.RemoveLeftovers());
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Listed> all, List());
  for (const Listed& one : all) {
    SKERRY_RETURN_IF_ERROR(CheckOwner(one, about));
    if (one.sequence != about.sequence) continue;
    if (one.status.ok()) {
      return absl::AlreadyExistsError(
          absl::StrCat(one.name, " is already there"));
    }
    SKERRY_RETURN_IF_ERROR(Remove(one.name));
  }
  return CheckpointWriter(blobs_, std::move(about));
}

absl::StatusOr<std::vector<Listed>> CheckpointStore::List() const {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> keys, blobs_.List(""));
  absl::btree_map<uint64_t, std::string> names;
  for (const std::string& key : keys) {
    const size_t slash = key.find('/');
    if (slash == std::string::npos) continue;
    const std::string name = key.substr(0, slash);
    const std::optional<uint64_t> sequence = SequenceOf(name);
    if (sequence.has_value()) names[*sequence] = name;
  }
  std::vector<Listed> all;
  for (const auto& [sequence, name] : names) {
    Listed one{
        .name = name, .sequence = sequence, .status = {}, .manifest = {}};
    absl::StatusOr<Manifest> manifest = ReadManifest(name);
    one.status = manifest.status();
    if (manifest.ok()) one.manifest = *std::move(manifest);
    all.push_back(std::move(one));
  }
  return all;
}

absl::StatusOr<Manifest> CheckpointStore::ReadManifest(
    const std::string& name) const {
  const std::string key = Key(name, kManifestFile);
  const absl::StatusOr<std::vector<std::byte>> bytes = blobs_.Get(key);
  if (absl::IsNotFound(bytes.status())) {
    return absl::NotFoundError(absl::StrCat(
        name, " is not finished: it has no ", std::string(kManifestFile)));
  }
  SKERRY_RETURN_IF_ERROR(bytes.status());
  absl::StatusOr<Manifest> manifest = ParseManifest(std::string_view(
      reinterpret_cast<const char*>(bytes->data()), bytes->size()));
  if (!manifest.ok()) return Damaged(key, manifest.status().message());
  if (CheckpointName(manifest->sequence) != name) {
    return Damaged(key, absl::StrCat("is of sequence ", manifest->sequence));
  }
  return manifest;
}

absl::StatusOr<Manifest> CheckpointStore::Find(const std::string& name) const {
  if (!SequenceOf(name).has_value()) {
    return absl::NotFoundError(
        absl::StrCat("\"", name, "\" is no name of a checkpoint"));
  }
  return ReadManifest(name);
}

absl::StatusOr<std::vector<std::byte>> CheckpointStore::Read(
    const std::string& name, const CheckpointFile& file) const {
  const std::string key = Key(name, file.file);
  absl::StatusOr<std::vector<std::byte>> bytes = blobs_.Get(key);
  if (absl::IsNotFound(bytes.status())) return Damaged(key, "is missing");
  SKERRY_RETURN_IF_ERROR(bytes.status());
  if (bytes->size() != file.bytes) {
    return Damaged(
        key, absl::StrCat("has ", bytes->size(), " bytes, not ", file.bytes));
  }
  if (Sha256Hex(*bytes) != file.sha256) {
    return Damaged(key, kOtherHash);
  }
  return bytes;
}

absl::Status CheckpointStore::Stream(
    const std::string& name, const CheckpointFile& file,
    absl::FunctionRef<absl::Status(runtime::ByteSpan piece)> take) const {
  const std::string key = Key(name, file.file);
  uint64_t bytes = 0;
  Sha256 sha256;
  const absl::Status read =
      blobs_.Read(key, [&](runtime::ByteSpan piece) -> absl::Status {
        bytes += piece.size();
        if (bytes > file.bytes) {
          return Damaged(key, absl::StrCat("has more than ", file.bytes,
                                           " bytes, which the manifest names"));
        }
        sha256.Update(piece);
        return take(piece);
      });
  if (absl::IsNotFound(read)) return Damaged(key, "is missing");
  SKERRY_RETURN_IF_ERROR(read);
  if (bytes != file.bytes) {
    return Damaged(key,
                   absl::StrCat("has ", bytes, " bytes, not ", file.bytes));
  }
  if (std::move(sha256).HexDigest() != file.sha256) {
    return Damaged(key, kOtherHash);
  }
  return absl::OkStatus();
}

absl::Status CheckpointStore::Verify(const std::string& name) const {
  SKERRY_ASSIGN_OR_RETURN(const Manifest manifest, Find(name));
  for (const CheckpointFile& file : manifest.files) {
    SKERRY_RETURN_IF_ERROR(
        Stream(name, file, [](runtime::ByteSpan) { return absl::OkStatus(); }));
  }
  return absl::OkStatus();
}

absl::Status CheckpointStore::Remove(const std::string& name) {
  SKERRY_RETURN_IF_ERROR(blobs_.Delete(Key(name, kManifestFile)));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> keys,
                          blobs_.List(name));
  for (const std::string& key : keys) {
    SKERRY_RETURN_IF_ERROR(blobs_.Delete(key));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> CheckpointStore::KeepNewest(
    size_t count, const std::vector<std::string>& pinned) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Listed> all, List());
  size_t finished = 0;
  std::vector<std::string> removed;
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    if (one->status.ok()) {
      if (++finished <= std::max<size_t>(count, 1)) continue;
      if (std::find(pinned.begin(), pinned.end(), one->name) != pinned.end() ||
          blobs_.Get(Key(one->name, kPin)).ok()) {
        continue;
      }
    } else if (!absl::IsNotFound(one->status) || finished == 0) {
      // Damaged: someone may want to look at it. Or perhaps still written.
      continue;
    }
    SKERRY_RETURN_IF_ERROR(Remove(one->name));
    removed.push_back(one->name);
  }
  return removed;
}

}  // namespace skerry::checkpoint
