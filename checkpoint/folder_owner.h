// checkpoint/folder_owner.h
//
// Finds the job whose checkpoints a folder has, with few reads, for somebody
// who looks often.
#ifndef SKERRY_CHECKPOINT_FOLDER_OWNER_H_
#define SKERRY_CHECKPOINT_FOLDER_OWNER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/files.h"

namespace skerry::checkpoint {

struct FolderOwner {
  std::string job;
  uint64_t job_id = 0;
  friend bool operator==(const FolderOwner&, const FolderOwner&) = default;
};

// Returns the job that the newest finished checkpoint names. Older ones are
// read only if the newer ones are not finished or cannot be read. Unset when
// there is no finished one, or no folder. Nothing is written.
std::optional<FolderOwner> FindFolderOwner(const std::string& folder,
                                           runtime::Files& files);

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_FOLDER_OWNER_H_
