#include "simulator/worker_disk.h"

#include <algorithm>
#include <utility>

namespace skerry::sim {
namespace {

std::string FolderOf(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

}  // namespace

void WorkerDisk::Write(const std::string& path, FileBytes bytes, Done done) {
  writes_.push_back({path, std::move(bytes), std::move(done)});
  if (writes_.size() == 1) Start();
}

void WorkerDisk::Remove(const std::string& path, Done done) {
  Write(path, nullptr, std::move(done));
}

void WorkerDisk::MakeFolder(const std::string& folder) {
  folders_.insert(folder);
  if (gone_.erase(folder) > 0) ++made_anew_[folder];
}

bool WorkerDisk::IsGone(const std::string& folder) const {
  return gone_.contains(folder);
}

uint32_t WorkerDisk::TimesMadeAnew(const std::string& folder) const {
  const auto it = made_anew_.find(folder);
  return it == made_anew_.end() ? 0 : it->second;
}

void WorkerDisk::Erase(const std::string& path) {
  files_.erase(path);
  if (folders_.erase(path) == 0) return;
  for (const std::string& name : List(path)) {
    files_.erase(path + "/" + name);
  }
}

void WorkerDisk::Start() {
  const absl::Duration took = absl::Microseconds(200 + random_.Below(3000)) *
                              std::min(slowness, kSlownessMax);
  timeline_.After(took, [this, run = run_] {
    if (run == run_) Finish();
  });
}

void WorkerDisk::Finish() {
  Operation write = std::move(writes_.front());
  writes_.pop_front();
  absl::Status status;
  if (write.bytes == nullptr) {
    Erase(write.path);
  } else if (gone_.contains(FolderOf(write.path))) {
    status = absl::NotFoundError("the folder is not there");
  } else if (full) {
    status = absl::ResourceExhaustedError("the disk is full");
  } else if (std::exchange(fails_next, false)) {
    status = absl::DataLossError("the disk failed to sync");
  } else {
    files_[write.path] = write.bytes;
  }
  if (!writes_.empty()) Start();
  std::move(write.done)(std::move(status));
}

FileBytes WorkerDisk::Find(const std::string& path) const {
  const auto it = files_.find(path);
  return it == files_.end() ? nullptr : it->second;
}

std::vector<std::string> WorkerDisk::List(const std::string& folder) const {
  std::vector<std::string> names;
  const std::string prefix = folder + "/";
  for (auto it = files_.lower_bound(prefix);
       it != files_.end() && it->first.starts_with(prefix); ++it) {
    names.push_back(it->first.substr(prefix.size()));
  }
  return names;
}

std::vector<std::string> WorkerDisk::Paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, bytes] : files_) paths.push_back(path);
  return paths;
}

void WorkerDisk::RemoveFolders() {
  gone_.insert(folders_.begin(), folders_.end());
  folders_.clear();
  files_.clear();
}

void WorkerDisk::Rot(const std::string& path) {
  std::vector<std::byte> bytes = *files_.at(path);
  if (bytes.empty()) return;
  const uint64_t bit = random_.Below(8 * bytes.size());
  bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  files_[path] =
      std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  has_rotten_ = true;
}

void WorkerDisk::Tear(const Operation& write) {
  const std::vector<std::byte>& whole = *write.bytes;
  const size_t kept = random_.Below(whole.size() + 1);
  std::vector<std::byte> torn(whole.begin(), whole.begin() + kept);
  // Blocks that never reached the disk read as zeros.
  if (random_.Below(2) == 0) torn.resize(whole.size());
  files_[write.path] =
      std::make_shared<const std::vector<std::byte>>(std::move(torn));
}

void WorkerDisk::OnProcessEnd(End end) {
  ++run_;
  if (!writes_.empty()) {
    const Operation& first = writes_.front();
    const uint64_t luck = random_.Below(3);
    if (first.bytes == nullptr) {
      if (luck == 0) Erase(first.path);
    } else if (luck == 0 && !full) {
      files_[first.path] = first.bytes;
    } else if (luck == 1 && end == End::kPowerLost) {
      Tear(first);
    }
  }
  writes_.clear();
  fails_next = false;
  if (end != End::kLost) return;
  files_.clear();
  folders_.clear();
  ++losses_;
}

}  // namespace skerry::sim
