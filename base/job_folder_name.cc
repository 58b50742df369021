#include "base/job_folder_name.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace skerry {

std::string JobFolderName(uint64_t job, uint64_t uid) {
  return absl::StrFormat("%d-%016x", job, uid);
}

std::optional<std::pair<uint64_t, uint64_t>> ParseJobFolderName(
    std::string_view text) {
  const absl::string_view name(text.data(), text.size());
  const size_t dash = name.find('-');
  uint64_t job = 0;
  uint64_t uid = 0;
  if (dash == name.npos || !absl::SimpleAtoi(name.substr(0, dash), &job) ||
      !absl::SimpleHexAtoi(name.substr(dash + 1), &uid) ||
      JobFolderName(job, uid) != text) {
    return std::nullopt;
  }
  return std::make_pair(job, uid);
}

}  // namespace skerry
