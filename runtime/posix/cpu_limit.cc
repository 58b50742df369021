#include "runtime/posix/cpu_limit.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace skerry::runtime {
namespace {

// Words of a small file; none when it is not there.
std::vector<std::string> WordsOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> words;
  for (std::string word; file >> word;) words.push_back(std::move(word));
  return words;
}

std::optional<int> Cpus(const std::string& quota, const std::string& period) {
  int64_t quota_us = 0;
  int64_t period_us = 0;
  if (!absl::SimpleAtoi(quota, &quota_us) ||
      !absl::SimpleAtoi(period, &period_us) || quota_us <= 0 ||
      period_us <= 0) {
    return std::nullopt;
  }
  constexpr int64_t kCpusMax = 1 << 20;
  return static_cast<int>(
      std::clamp<int64_t>(quota_us / period_us, 1, kCpusMax));
}

// The quota of one control group.
std::optional<int> QuotaOf(const std::string& folder) {
  const std::vector<std::string> words = WordsOf(folder + "/cpu.max");
  if (words.size() == 2) return Cpus(words[0], words[1]);
  const std::vector<std::string> quota = WordsOf(folder + "/cpu.cfs_quota_us");
  const std::vector<std::string> period =
      WordsOf(folder + "/cpu.cfs_period_us");
  if (quota.size() != 1 || period.size() != 1) return std::nullopt;
  return Cpus(quota[0], period[0]);
}

void Tighten(std::optional<int> other, std::optional<int>& least) {
  if (other.has_value()) least = std::min(least.value_or(*other), *other);
}

}  // namespace

std::optional<int> CpuQuota(const std::string& root) {
  std::optional<int> least;
  std::ifstream groups(root + "/proc/self/cgroup");
  // Each line is NUMBER:CONTROLLERS:PATH, with no controllers in version 2.
  for (std::string line; std::getline(groups, line);) {
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::vector<std::string> controllers = absl::StrSplit(parts[1], ',');
    const bool is_new = parts[1].empty();
    if (!is_new && std::find(controllers.begin(), controllers.end(), "cpu") ==
                       controllers.end()) {
      continue;
    }
    const std::string mount =
        absl::StrCat(root, "/sys/fs/cgroup", is_new ? "" : "/", parts[1]);
    // A container may see its own group as the root of all, under whatever
    // name it has outside.
    for (std::string path = parts[2];; path.resize(path.find_last_of('/'))) {
      Tighten(QuotaOf(mount + path), least);
      if (path.find('/') == std::string::npos) break;
    }
  }
  return least;
}

int UsableCpus() {
  // Counts those of the affinity mask.
  const int cpus =
      std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::min(cpus, CpuQuota().value_or(cpus));
}

}  // namespace skerry::runtime
