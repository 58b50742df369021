#include "worker/daemon/job_folder_disk.h"

#include "base/job_folder_name.h"
#include "runtime/log.h"
#include "worker/daemon/job_folders.h"

namespace skerry::worker {

void JobFolderDisk::List(Listed done) {
  disk_.Run([&loop = loop_, &files = files_, state = state_,
             done = std::move(done)]() mutable {
    loop.Post(
        [all = ListJobFolders(files, state), done = std::move(done)]() mutable {
          std::move(done)(std::move(all));
        });
  });
}

void JobFolderDisk::MarkEnded(const StoredJobKey& folder, int64_t unix_ms) {
  disk_.Run([&files = files_, state = state_, folder, unix_ms] {
    const absl::Status marked =
        worker::MarkEnded(files, state, folder, unix_ms);
    if (marked.ok()) return;
    runtime::Log(runtime::Severity::kWarning, "worker.folder.not_marked",
                 {{"folder", JobFolderName(folder.job.value(), folder.uid)},
                  {"cause", marked}});
  });
}

void JobFolderDisk::Remove(const StoredJobKey& folder, Removed done) {
  disk_.Run([&loop = loop_, &files = files_, state = state_, folder,
             done = std::move(done)]() mutable {
    loop.Post([removed = RemoveJobFolder(files, state, folder),
               done = std::move(done)]() mutable {
      std::move(done)(std::move(removed));
    });
  });
}

}  // namespace skerry::worker
