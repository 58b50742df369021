#include "worker/core/cached_sets.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"

namespace skerry::worker {
namespace {

std::string MiB(uint64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

uint64_t CachedSets::Set::bytes() const {
  uint64_t sum = 0;
  for (const auto& [name, file] : files) sum += file.bytes;
  return sum;
}

uint64_t CachedSets::bytes() const {
  uint64_t sum = 0;
  for (const auto& [name, set] : sets_) sum += set.bytes();
  return sum;
}

void CachedSets::OnFound(const std::string& set, const Sizes& files) {
  Set& found = sets_[set];
  found.last_use = ++uses_;
  for (const auto& [name, bytes] : files) found.files[name] = {bytes, true};
}

absl::StatusOr<std::vector<CachedSets::File>> CachedSets::Take(
    const std::string& set, const Sizes& files) {
  uint64_t needed = 0;
  for (const auto& [name, bytes] : files) needed += bytes;
  if (needed > bytes_max_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the data set takes ", MiB(needed), ", and the cache holds at most ",
        MiB(bytes_max_), "; give this worker a larger --data-cache-gib"));
  }
  uint64_t used = 0;
  for (const auto& [name, other] : sets_) {
    if (other.users > 0 && name != set) used += other.bytes();
  }
  if (used + needed > bytes_max_) {
    return absl::UnavailableError(absl::StrCat(
        "the data set takes ", MiB(needed), ", and other jobs use ", MiB(used),
        " of the ", MiB(bytes_max_),
        " that the cache holds; wait for them, or give this worker a larger "
        "--data-cache-gib"));
  }
  std::vector<File> removed;
  Set& taken = sets_[set];
  for (auto it = taken.files.begin(); it != taken.files.end();) {
    const auto wanted = files.find(it->first);
    if (wanted != files.end() && wanted->second == it->second.bytes) {
      ++it;
      continue;
    }
    removed.push_back({set, it->first, it->second.bytes});
    it = taken.files.erase(it);
  }
  for (const auto& [name, bytes] : files) taken.files[name].bytes = bytes;
  ++taken.users;
  taken.last_use = ++uses_;
  for (File& file : Trim()) removed.push_back(std::move(file));
  return removed;
}

std::vector<CachedSets::File> CachedSets::Trim() {
  std::vector<File> removed;
  uint64_t sum = bytes();
  while (sum > bytes_max_) {
    auto oldest = sets_.end();
    for (auto it = sets_.begin(); it != sets_.end(); ++it) {
      if (it->second.users > 0) continue;
      if (oldest == sets_.end() ||
          it->second.last_use < oldest->second.last_use) {
        oldest = it;
      }
    }
    // Sets in use fit. More is left only of a file that could not be removed.
    if (oldest == sets_.end()) break;
    auto& files = oldest->second.files;
    while (sum > bytes_max_ && !files.empty()) {
      const auto first = files.begin();
      sum -= first->second.bytes;
      removed.push_back({oldest->first, first->first, first->second.bytes});
      files.erase(first);
    }
    if (files.empty()) sets_.erase(oldest);
  }
  return removed;
}

void CachedSets::OnNotRemoved(const File& file) {
  sets_[file.set].files[file.name] = {file.bytes, true};
}

void CachedSets::Release(const std::string& set) {
  const auto it = sets_.find(set);
  SKERRY_CHECK(it != sets_.end() && it->second.users > 0);
  Set& released = it->second;
  released.last_use = ++uses_;
  if (--released.users > 0) return;
  for (auto file = released.files.begin(); file != released.files.end();) {
    file =
        file->second.is_stored ? std::next(file) : released.files.erase(file);
  }
  if (released.files.empty()) sets_.erase(it);
}

void CachedSets::OnStored(const std::string& set, const std::string& name) {
  sets_.at(set).files.at(name).is_stored = true;
}

void CachedSets::OnLost(const std::string& set, const std::string& name) {
  sets_.at(set).files.at(name).is_stored = false;
}

bool CachedSets::IsStored(const std::string& set,
                          const std::string& name) const {
  const auto found = sets_.find(set);
  if (found == sets_.end()) return false;
  const auto file = found->second.files.find(name);
  return file != found->second.files.end() && file->second.is_stored;
}

}  // namespace skerry::worker
