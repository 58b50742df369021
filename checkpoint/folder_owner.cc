#include "checkpoint/folder_owner.h"

#include <algorithm>
#include <vector>

#include "checkpoint/checkpoint_store.h"
#include "runtime/directory_blob_store.h"

namespace skerry::checkpoint {

std::optional<FolderOwner> FindFolderOwner(const std::string& folder,
                                           runtime::Files& files) {
  auto names = files.ListDirectories(folder);
  if (!names.ok()) return std::nullopt;
  // A longer name has a higher number. Names of other folders are not found.
  std::sort(names->begin(), names->end(),
            [](const std::string& a, const std::string& b) {
              return a.size() != b.size() ? a.size() > b.size() : a > b;
            });
  runtime::DirectoryBlobStore blobs(folder, files);
  const CheckpointStore store(blobs);
  for (const std::string& name : *names) {
    const absl::StatusOr<Manifest> manifest = store.Find(name);
    if (manifest.ok()) return FolderOwner{manifest->job, manifest->job_id};
  }
  return std::nullopt;
}

}  // namespace skerry::checkpoint
