#include "coordinator/core/rules/data_looks.h"

#include <algorithm>
#include <iterator>

#include "absl/time/time.h"
#include "job/limits.h"

namespace skerry::coordinator {
namespace {

constexpr absl::Duration kAskedFor = absl::Minutes(1);
constexpr size_t kPathsMax = 16;

}  // namespace

void DataLooks::Ask(const std::string& path, Instant now,
                    const WorkerTable& workers,
                    absl::btree_set<std::string>& touched) {
  if (path.empty() || path.size() > job::kPathBytesMax) return;
  for (auto it = until_.begin(); it != until_.end();) {
    it = it->second <= now ? until_.erase(it) : std::next(it);
  }
  const bool is_new = !until_.contains(path);
  if (is_new && until_.size() >= kPathsMax) {
    until_.erase(std::min_element(
        until_.begin(), until_.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; }));
  }
  until_[path] = now + kAskedFor;
  if (!is_new) return;
  for (const auto& [name, worker] : workers.all()) {
    if (worker.looks_at_data) touched.insert(name);
  }
}

std::vector<std::string> DataLooks::PathsFor(const Worker& worker,
                                             Instant now) const {
  std::vector<std::string> paths;
  if (!worker.looks_at_data) return paths;
  for (const auto& [path, until] : until_) {
    if (until > now) paths.push_back(path);
  }
  return paths;
}

}  // namespace skerry::coordinator
