#include "worker/core/state_folders.h"

#include <algorithm>
#include <utility>

namespace skerry::worker {

FolderOrders FoldersIn(const protocol::Orders& orders) {
  FolderOrders said{{}, orders.ended_jobs, orders.removed_jobs};
  for (const protocol::JobOrders& job : orders.jobs) {
    if (!IsOver(job.phase)) said.live.push_back({job.job, job.uid});
  }
  return said;
}

void StateFolders::OnListed(const std::vector<StoredJob>& all) {
  absl::btree_set<StoredJobKey> there;
  for (const StoredJob& one : all) {
    there.insert(one.key);
    const auto [it, fresh] = folders_.try_emplace(one.key);
    it->second.bytes = one.bytes;
    if (fresh) it->second.ended_unix_ms = one.ended_unix_ms;
  }
  for (auto it = folders_.begin(); it != folders_.end();) {
    const bool gone = !there.contains(it->first) && !it->second.removing;
    it = gone ? folders_.erase(it) : std::next(it);
  }
}

void StateFolders::OnOpened(const StoredJobKey& folder) {
  folders_.try_emplace(folder);
}

void StateFolders::SetEnded(Folder& folder, int64_t unix_ms) {
  if (folder.ended_unix_ms == unix_ms) return;
  folder.ended_unix_ms = unix_ms;
  folder.marked = false;
}

void StateFolders::OnOrders(const FolderOrders& orders, int64_t now_unix_ms) {
  OnSessionEnd();
  const auto each = [&](const std::vector<StoredJobKey>& named, auto take) {
    for (const StoredJobKey& one : named) {
      const auto it = folders_.find(one);
      if (it != folders_.end()) take(it->second);
    }
  };
  each(orders.ended, [&](Folder& folder) {
    folder.word = Word::kEnded;
    if (folder.ended_unix_ms == 0) SetEnded(folder, now_unix_ms);
  });
  each(orders.removed, [](Folder& folder) { folder.word = Word::kRemove; });
  // A coordinator whose history is older may have a job go on that had ended.
  each(orders.live, [&](Folder& folder) {
    folder.word = Word::kNone;
    SetEnded(folder, 0);
  });
}

void StateFolders::OnSessionEnd() {
  for (auto& [key, folder] : folders_) folder.word = Word::kNone;
}

void StateFolders::OnRemoved(const StoredJobKey& folder, bool gone) {
  const auto it = folders_.find(folder);
  if (it == folders_.end()) return;
  it->second.removing = false;
  if (gone) folders_.erase(it);
}

bool StateFolders::MayOpen(const StoredJobKey& folder, bool ended) const {
  const auto it = folders_.find(folder);
  if (it == folders_.end()) return !ended;
  return !it->second.removing;
}

std::vector<StoredJobKey> StateFolders::TakeRemovable(int64_t now_unix_ms) {
  std::vector<StoredJobKey> found;
  const auto remove = [&](const StoredJobKey& key, Folder& folder) {
    folder.removing = true;
    found.push_back(key);
  };
  // Folders of ended jobs, those that ended first in front.
  std::vector<std::pair<int64_t, StoredJobKey>> ended;
  uint64_t bytes = 0;
  for (auto& [key, folder] : folders_) {
    if (folder.removing) continue;
    if (folder.word == Word::kRemove) remove(key, folder);
    if (folder.word != Word::kEnded) continue;
    ended.emplace_back(folder.ended_unix_ms, key);
    bytes += folder.bytes;
  }
  std::sort(ended.begin(), ended.end());
  for (const auto& [unix_ms, key] : ended) {
    const auto age = absl::Milliseconds(now_unix_ms - unix_ms);
    if (age < retention_.age && bytes <= retention_.bytes) break;
    Folder& folder = folders_[key];
    bytes -= folder.bytes;
    remove(key, folder);
  }
  return found;
}

std::vector<StoredJob> StateFolders::TakeMarks() {
  std::vector<StoredJob> marks;
  for (auto& [key, folder] : folders_) {
    if (std::exchange(folder.marked, true)) continue;
    marks.push_back({key, folder.bytes, folder.ended_unix_ms});
  }
  return marks;
}

std::vector<StoredJob> StateFolders::Report() const {
  std::vector<StoredJob> all;
  for (const auto& [key, folder] : folders_) {
    if (folder.removing) continue;
    all.push_back({key, folder.bytes, folder.ended_unix_ms});
  }
  return all;
}

}  // namespace skerry::worker
