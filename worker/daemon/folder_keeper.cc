#include "worker/daemon/folder_keeper.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/job_folder_name.h"
#include "runtime/log.h"
#include "worker/convert/control.h"
#include "worker/daemon/job_folders.h"

namespace skerry::worker {
namespace {

// Between two looks at the disk; more often where ended jobs are kept shorter.
constexpr absl::Duration kLookMin = absl::Seconds(1);
constexpr absl::Duration kLookMax = absl::Seconds(5);

JobFolder FolderOf(const v1::StoredJobKey& key) {
  return {JobId(key.job()), key.uid()};
}

std::string NameOf(const JobFolder& folder) {
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

void FolderKeeper::OnOrders(const v1::Orders& orders) {
  FolderOrders said;
  for (const v1::JobOrders& job : orders.jobs()) {
    if (!HasEnded(job.phase())) {
      said.live.push_back({JobId(job.job()), job.uid()});
    }
  }
  for (const auto& one : orders.ended_jobs()) {
    said.ended.push_back(FolderOf(one));
  }
  for (const auto& one : orders.removed_jobs()) {
    said.removed.push_back(FolderOf(one));
  }
  folders_.OnOrders(said, options_.unix_ms());
  Act();
}

bool FolderKeeper::Open(const v1::JobOrders& orders) {
  const JobFolder folder{JobId(orders.job()), orders.uid()};
  if (!folders_.MayOpen(folder, HasEnded(orders.phase()))) return false;
  folders_.OnOpened(folder);
  return true;
}

void FolderKeeper::WriteStatus(v1::Status* out) const {
  for (const StoredFolder& one : folders_.Report()) {
    v1::StoredJob* stored = out->add_stored_jobs();
    stored->set_job(one.folder.job.value());
    stored->set_uid(one.folder.uid);
    stored->set_bytes(one.bytes);
    stored->set_ended_unix_ms(one.ended_unix_ms);
  }
  out->set_keep_ended_ms(absl::ToInt64Milliseconds(options_.retention.age));
  out->set_keep_ended_bytes(options_.retention.bytes);
}

void FolderKeeper::Act() {
  for (const StoredFolder& mark : folders_.TakeMarks()) {
    options_.disk.Run(
        [&files = options_.files, state = options_.state_directory, mark] {
          const absl::Status marked =
              MarkEnded(files, state, mark.folder, mark.ended_unix_ms);
          if (marked.ok()) return;
          runtime::Log(runtime::Severity::kWarning, "worker.folder.not_marked",
                       {{"folder", NameOf(mark.folder)}, {"cause", marked}});
        });
  }
  for (const JobFolder& folder : folders_.TakeRemovable(options_.unix_ms())) {
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
