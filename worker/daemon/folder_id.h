// worker/daemon/folder_id.h
//
// Draws and reads the number of a worker's state folder. It is drawn once, kept
// in the folder, and sent with every Status, so that the coordinator can tell a
// restart from another process of the same name.
#ifndef SKERRY_WORKER_DAEMON_FOLDER_ID_H_
#define SKERRY_WORKER_DAEMON_FOLDER_ID_H_

#include <cstdint>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/folder_id.h"
#include "runtime/files.h"

namespace skerry::worker {

// Reads the number of `folder`. Draws it, and stores it durably, when the
// folder has none or what it has is damaged. Errors: those of the disk.
absl::StatusOr<FolderId> FolderIdOf(const std::string& folder,
                                    runtime::Files& files,
                                    absl::AnyInvocable<uint64_t()> draw);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_FOLDER_ID_H_
