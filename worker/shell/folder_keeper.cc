#include "worker/shell/folder_keeper.h"

#include <algorithm>
#include <utility>

#include "base/job_folder_name.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

// Between two looks at the disk; more often where ended jobs are kept shorter.
constexpr absl::Duration kLookMin = absl::Seconds(1);
constexpr absl::Duration kLookMax = absl::Seconds(5);

}  // namespace

FolderKeeper::FolderKeeper(FolderKeeperOptions options)
    : options_(std::move(options)), folders_(options_.retention) {}

void FolderKeeper::Start() { List(); }

void FolderKeeper::List() {
  options_.disk.List([this, alive = std::weak_ptr<char>(alive_)](
                         absl::StatusOr<std::vector<StoredJob>> all) {
    if (alive.expired()) return;
    OnListed(all);
    const absl::Duration wait =
        std::clamp(options_.retention.age / 4, kLookMin, kLookMax);
    options_.loop.RunAt(options_.loop.Now() + wait, [this, alive] {
      if (!alive.expired()) List();
    });
  });
}

void FolderKeeper::OnListed(const absl::StatusOr<std::vector<StoredJob>>& all) {
  if (!all.ok()) {
    runtime::Log(runtime::Severity::kWarning, "worker.folders.unreadable",
                 {{"cause", all.status()}});
    return;
  }
  const bool changed = folders_.Report().size() != all->size();
  folders_.OnListed(*all);
  Act();
  if (changed) options_.status_changed();
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
    options_.disk.MarkEnded(mark.key, mark.ended_unix_ms);
  }
  for (const StoredJobKey& folder :
       folders_.TakeRemovable(options_.unix_ms())) {
    options_.stop_serving(folder);
    options_.disk.Remove(folder, [this, folder,
                                  alive = std::weak_ptr<char>(alive_)](
                                     const absl::Status& removed) {
      runtime::Log(
          removed.ok() ? runtime::Severity::kInfo : runtime::Severity::kWarning,
          removed.ok() ? "worker.folder.removed" : "worker.folder.not_removed",
          {{"folder", JobFolderName(folder.job.value(), folder.uid)},
           {"cause", removed}});
      if (alive.expired()) return;
      folders_.OnRemoved(folder, removed.ok());
      options_.status_changed();
    });
  }
}

}  // namespace skerry::worker
