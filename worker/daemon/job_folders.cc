#include "worker/daemon/job_folders.h"

#include <filesystem>
#include <span>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/job_folder_name.h"
#include "base/status.h"

namespace skerry::worker {
namespace {

constexpr char kMark[] = ".ended";

std::string FolderOfAll(const std::string& state) { return state + "/jobs"; }

std::string MarkPath(const std::string& state, const StoredJobKey& folder) {
  return absl::StrCat(PathOf(state, folder), kMark);
}

uint64_t BytesIn(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory, error)) {
    const uint64_t size = entry.file_size(error);
    if (!error) bytes += size;
  }
  return bytes;
}

// 0 when there is no mark, or none that can be read: then the worker takes the
// next word of the coordinator for the end.
int64_t ReadMark(const runtime::Files& files, const std::string& path) {
  const auto bytes = files.Read(path);
  if (!bytes.ok()) return 0;
  const absl::string_view text(reinterpret_cast<const char*>(bytes->data()),
                               bytes->size());
  int64_t unix_ms = 0;
  const bool read = absl::SimpleAtoi(absl::StripSuffix(text, "\n"), &unix_ms);
  return read && unix_ms > 0 ? unix_ms : 0;
}

}  // namespace

std::string PathOf(const std::string& state, const StoredJobKey& folder) {
  return absl::StrCat(FolderOfAll(state), "/",
                      JobFolderName(folder.job.value(), folder.uid));
}

absl::StatusOr<std::vector<StoredJob>> ListJobFolders(
    const runtime::Files& files, const std::string& state) {
  const auto names = files.ListDirectories(FolderOfAll(state));
  if (absl::IsNotFound(names.status())) return std::vector<StoredJob>();
  if (!names.ok()) return names.status();
  std::vector<StoredJob> all;
  for (const std::string& name : *names) {
    const auto parts = ParseJobFolderName(name);
    if (!parts.has_value()) continue;
    const StoredJobKey folder{JobId(parts->first), parts->second};
    all.push_back({folder, BytesIn(PathOf(state, folder)),
                   ReadMark(files, MarkPath(state, folder))});
  }
  return all;
}

absl::Status MarkEnded(runtime::Files& files, const std::string& state,
                       const StoredJobKey& folder, int64_t unix_ms) {
  const std::string path = MarkPath(state, folder);
  if (unix_ms == 0) return files.Remove(path);
  const std::string text = absl::StrCat(unix_ms, "\n");
  return files.WriteDurably(path,
                            std::as_bytes(std::span(text.data(), text.size())));
}

absl::Status RemoveJobFolder(runtime::Files& files, const std::string& state,
                             const StoredJobKey& folder) {
  const std::string path = PathOf(state, folder);
  const auto names = files.List(path);
  if (!names.ok() && !absl::IsNotFound(names.status())) return names.status();
  if (names.ok()) {
    for (const std::string& name : *names) {
      SKERRY_RETURN_IF_ERROR(files.Remove(absl::StrCat(path, "/", name)));
    }
    SKERRY_RETURN_IF_ERROR(files.RemoveDirectory(path));
  }
  return files.Remove(MarkPath(state, folder));
}

}  // namespace skerry::worker
