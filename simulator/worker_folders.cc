#include "simulator/worker_folders.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/job_folder_name.h"
#include "simulator/world.h"

namespace skerry::sim {
namespace {

constexpr char kJobs[] = "jobs/";
// So long does it take to read a folder of folders.
constexpr uint64_t kListUs = 3000;

std::string PathOf(const protocol::StoredJobKey& folder) {
  return absl::StrCat(kJobs, JobFolderName(folder.job.value(), folder.uid));
}

std::string MarkOf(const std::string& path) {
  return absl::StrCat(path, ".ended");
}

// 0 when there is no mark that can be read.
int64_t ReadMark(const WorkerDisk& disk, const std::string& path) {
  const FileBytes bytes = disk.Find(MarkOf(path));
  int64_t unix_ms = 0;
  return bytes != nullptr &&
                 absl::SimpleAtoi(
                     absl::string_view(
                         reinterpret_cast<const char*>(bytes->data()),
                         bytes->size()),
                     &unix_ms)
             ? unix_ms
             : 0;
}

}  // namespace

// What it finds may be out of date when it is told.
void WorkerFolders::List(Listed done) {
  const WorkerDisk& disk = *world_.machine(host_).disk;
  std::vector<protocol::StoredJob> all;
  for (const std::string& path : disk.Folders()) {
    const auto name =
        ParseJobFolderName(std::string(absl::StripPrefix(path, kJobs)));
    if (!name.has_value()) continue;
    uint64_t bytes = 0;
    for (const std::string& file : disk.List(path)) {
      bytes += disk.Find(absl::StrCat(path, "/", file))->size();
    }
    all.push_back(
        {{JobId(name->first), name->second}, bytes, ReadMark(disk, path)});
  }
  const absl::Duration took = absl::Microseconds(world_.random.Below(kListUs)) *
                              std::min(disk.slowness, kSlownessMax);
  process_.RunAt(process_.Now() + took,
                 [all = std::move(all), done = std::move(done)]() mutable {
                   std::move(done)(std::move(all));
                 });
}

void WorkerFolders::MarkEnded(const protocol::StoredJobKey& folder,
                              int64_t unix_ms) {
  WorkerDisk& disk = *world_.machine(host_).disk;
  const std::string path = MarkOf(PathOf(folder));
  if (unix_ms == 0) return disk.Remove(path);
  const std::string text = absl::StrCat(unix_ms);
  const auto bytes = std::as_bytes(std::span(text));
  disk.Write(path,
             std::make_shared<const std::vector<std::byte>>(bytes.begin(),
                                                            bytes.end()),
             [](absl::Status) {});
}

void WorkerFolders::Remove(const protocol::StoredJobKey& folder, Removed done) {
  world_.observer.OnFolderRemoved(host_, folder.job, folder.uid);
  RemoveRest(PathOf(folder), std::move(done));
}

// One file after the other. What was still to be written goes, too.
void WorkerFolders::RemoveRest(const std::string& path, Removed done) {
  WorkerDisk& disk = *world_.machine(host_).disk;
  const std::vector<std::string> names = disk.List(path);
  if (!names.empty()) {
    return disk.Remove(
        absl::StrCat(path, "/", names.front()),
        [this, path, done = std::move(done)](absl::Status) mutable {
          RemoveRest(path, std::move(done));
        });
  }
  disk.Remove(path);
  disk.Remove(MarkOf(path), [&process = process_, done = std::move(done)](
                                absl::Status removed) mutable {
    process.Post(
        [removed = std::move(removed), done = std::move(done)]() mutable {
          std::move(done)(std::move(removed));
        });
  });
}

}  // namespace skerry::sim
