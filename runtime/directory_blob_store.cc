#include "runtime/directory_blob_store.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/blob_key.h"

namespace skerry::runtime {
namespace {

// Read gives at most so much at once.
constexpr size_t kPieceBytes = 1 << 20;

// The part of a path before its last slash; empty when there is none.
std::string FolderOf(const std::string& key) {
  const size_t slash = key.rfind('/');
  return slash == std::string::npos ? "" : key.substr(0, slash);
}

std::string Join(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : absl::StrCat(a, "/", b);
}

}  // namespace

DirectoryBlobStore::DirectoryBlobStore(std::string root, Files& files)
    : root_(std::move(root)), files_(files) {}

absl::Status DirectoryBlobStore::Put(const std::string& key, ByteSpan bytes) {
  SKERRY_RETURN_IF_ERROR(CheckBlobKey(key));
  SKERRY_RETURN_IF_ERROR(files_.MakeDirectory(Join(root_, FolderOf(key))));
  return files_.WriteDurably(Join(root_, key), bytes);
}

absl::StatusOr<std::vector<std::byte>> DirectoryBlobStore::Get(
    const std::string& key) const {
  SKERRY_RETURN_IF_ERROR(CheckBlobKey(key));
  return files_.Read(Join(root_, key));
}

absl::Status DirectoryBlobStore::Read(
    const std::string& key,
    absl::FunctionRef<absl::Status(ByteSpan piece)> take) const {
  SKERRY_RETURN_IF_ERROR(CheckBlobKey(key));
  SKERRY_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source,
                          files_.Open(Join(root_, key)));
  std::vector<std::byte> piece(kPieceBytes);
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const size_t some, source->Read(piece));
    if (some == 0) return absl::OkStatus();
    SKERRY_RETURN_IF_ERROR(take(ByteSpan(piece).first(some)));
  }
}

absl::StatusOr<std::vector<std::string>> DirectoryBlobStore::List(
    const std::string& folder) const {
  if (!folder.empty()) SKERRY_RETURN_IF_ERROR(CheckBlobKey(folder));
  std::vector<std::string> keys;
  const absl::Status walked = Walk(folder, keys);
  if (!walked.ok() && !absl::IsNotFound(walked)) return walked;
  std::sort(keys.begin(), keys.end());
  return keys;
}

absl::Status DirectoryBlobStore::Walk(const std::string& folder,
                                      std::vector<std::string>& keys) const {
  const std::string directory = Join(root_, folder);
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                          files_.List(directory));
  for (const std::string& name : names) {
    if (IsBlobKeyPart(name)) keys.push_back(Join(folder, name));
  }
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> below,
                          files_.ListDirectories(directory));
  for (const std::string& name : below) {
    if (IsBlobKeyPart(name))
      SKERRY_RETURN_IF_ERROR(Walk(Join(folder, name), keys));
  }
  return absl::OkStatus();
}

absl::Status DirectoryBlobStore::Delete(const std::string& key) {
  SKERRY_RETURN_IF_ERROR(CheckBlobKey(key));
  SKERRY_RETURN_IF_ERROR(files_.Remove(Join(root_, key)));
  for (std::string folder = FolderOf(key); !folder.empty();
       folder = FolderOf(folder)) {
    const absl::Status removed = files_.RemoveDirectory(Join(root_, folder));
    if (absl::IsFailedPrecondition(removed)) break;
    SKERRY_RETURN_IF_ERROR(removed);
  }
  return absl::OkStatus();
}

}  // namespace skerry::runtime
