#include "worker/daemon/folder_keeper.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/job_folder_name.h"
#include "runtime/log.h"
#include "worker/daemon/job_folders.h"

namespace skerry::worker {
namespace {

// Between two looks at the disk; more often where ended jobs are kept shorter.
constexpr absl::Duration kLookMin = absl::Seconds(1);
constexpr absl::Duration kLookMax = absl::Seconds(5);

std::string NameOf(const StoredJobKey& folder) {
  return JobFolderName(folder.job.value(), folder.uid);
}

}  // namespace

FolderKeeper::FolderKeeper(FolderKeeperOptions options)
    : options_(std::move(options)), folders_(options_.retention) {}

void FolderKeeper::Start() { List(); }

void FolderKeeper::List() {
  options_.disk.Run([this, &files = options_.files, &loop = options_.loop,
                     state = options_.state_directory,
                     alive = std::weak_ptr<char>(alive_)]() mutable {
    auto all = ListJobFolders(files, state);
    loop.Post([this, all = std::move(all), alive = std::move(alive)] {
      if (alive.expired()) return;
      if (all.ok()) {
        const bool changed = folders_.Report().size() != all->size();
        folders_.OnListed(*all);
        Act();
        if (changed) options_.status_changed();
      } else {
        runtime::Log(runtime::Severity::kWarning, "worker.folders.unreadable",
                     {{"cause", all.status()}});
      }
      const absl::Duration wait =
          std::clamp(options_.retention.age / 4, kLookMin, kLookMax);
      options_.loop.RunAt(options_.loop.Now() + wait,
                          [this, alive = std::weak_ptr<char>(alive_)] {
                            if (!alive.expired()) List();
                          });
    });
  });
}

void FolderKeeper::OnOrders(const FolderOrders& orders) {
  folders_.OnOrders(orders, options_.unix_ms());
  Act();
}

bool FolderKeeper::Open(const protocol::JobOrders& orders) {
  const StoredJobKey folder{orders.job, orders.uid};
  if (!folders_.MayOpen(folder, IsOver(orders.phase))) return false;
  folders_.OnOpened(folder);
  return true;
}

protocol::StoredJobs FolderKeeper::Stored() const {
  return {folders_.Report(), options_.retention.age, options_.retention.bytes};
}

void FolderKeeper::Act() {
  for (const StoredJob& mark : folders_.TakeMarks()) {
    options_.disk.Run(
        [&files = options_.files, state = options_.state_directory, mark] {
          const absl::Status marked =
              MarkEnded(files, state, mark.key, mark.ended_unix_ms);
          if (marked.ok()) return;
          runtime::Log(runtime::Severity::kWarning, "worker.folder.not_marked",
                       {{"folder", NameOf(mark.key)}, {"cause", marked}});
        });
  }
  for (const StoredJobKey& folder :
       folders_.TakeRemovable(options_.unix_ms())) {
    options_.stop_serving(folder);
    options_.disk.Run([this, &files = options_.files, &loop = options_.loop,
                       state = options_.state_directory, folder,
                       alive = std::weak_ptr<char>(alive_)]() mutable {
      const absl::Status removed = RemoveJobFolder(files, state, folder);
      runtime::Log(
          removed.ok() ? runtime::Severity::kInfo : runtime::Severity::kWarning,
          removed.ok() ? "worker.folder.removed" : "worker.folder.not_removed",
          {{"folder", NameOf(folder)}, {"cause", removed}});
      loop.Post([this, folder, gone = removed.ok(), alive = std::move(alive)] {
        if (alive.expired()) return;
        folders_.OnRemoved(folder, gone);
        options_.status_changed();
      });
    });
  }
}

}  // namespace skerry::worker
