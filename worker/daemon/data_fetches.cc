#include "worker/daemon/data_fetches.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "data/manifest.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

using File = DataSetCopy::File;

// Files of one set that are fetched or checked at once.
constexpr int kAtOnce = 2;

std::string ManifestIn(const std::string& folder) {
  return absl::StrCat(folder, "/", std::string(data::kManifestFile));
}

// The time that NoteUse wrote. A set without a manifest is being removed.
std::filesystem::file_time_type LastUse(const std::string& folder) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(ManifestIn(folder), error);
  return error ? std::filesystem::file_time_type::min() : time;
}

// Tells a later process when the set was used.
void NoteUse(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::last_write_time(
      ManifestIn(folder), std::filesystem::file_time_type::clock::now(),
      ignored);
}

absl::Status NobodyWantsIt() {
  return absl::CancelledError("no job wants the data set any more");
}

// Lengths of the files in a folder, by name. Leftovers of a former process are
// removed first.
absl::StatusOr<CachedSets::Sizes> SizesIn(const std::string& folder,
                                          runtime::Files& files) {
  SKERRY_RETURN_IF_ERROR(
      files.RemoveLeftovers(folder, [](std::string_view) { return true; }));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                          files.List(folder));
  CachedSets::Sizes sizes;
  for (const std::string& name : names) {
    std::error_code error;
    const auto bytes =
        std::filesystem::file_size(absl::StrCat(folder, "/", name), error);
    if (!error) sizes[name] = bytes;
  }
  return sizes;
}

}  // namespace

DataFetches::DataFetches(const DataCacheOptions& options)
    : options_(options), sets_(options.bytes_max) {}

std::string DataFetches::FolderOf(const std::string& set) const {
  return absl::StrCat(options_.folder, "/", set);
}

namespace {

template <typename Removals>
void LogRemovals(const Removals& removals) {
  for (const auto& [file, status] : removals) {
    if (status.ok()) {
      runtime::Log(
          runtime::Severity::kInfo, "worker.data.removed",
          {{"set", file.set}, {"file", file.name}, {"bytes", file.bytes}});
    } else {
      runtime::Log(runtime::Severity::kWarning, "worker.data.not_removed",
                   {{"cause", status}});
    }
  }
}

}  // namespace

void DataFetches::Look() {
  std::vector<Removal> removals;
  absl::Status looked;
  {
    const runtime::MutexLock lock(mutex_);
    looked = LookLocked(removals);
  }
  LogRemovals(removals);
  if (looked.ok()) return;
  runtime::Log(runtime::Severity::kWarning, "worker.data.unreadable",
               {{"cause", looked}});
}

absl::Status DataFetches::LookLocked(std::vector<Removal>& removals) {
  if (has_looked_) return absl::OkStatus();
  const auto names = options_.files.ListDirectories(options_.folder);
  if (!names.ok() && !absl::IsNotFound(names.status())) return names.status();
  std::vector<std::pair<std::filesystem::file_time_type, std::string>> sets;
  absl::btree_map<std::string, CachedSets::Sizes> found;
  if (names.ok()) {
    for (const std::string& set : *names) {
      SKERRY_ASSIGN_OR_RETURN(found[set],
                              SizesIn(FolderOf(set), options_.files));
      sets.emplace_back(LastUse(FolderOf(set)), set);
    }
  }
  has_looked_ = true;
  std::sort(sets.begin(), sets.end());
  for (const auto& [time, set] : sets) sets_.OnFound(set, found[set]);
  RemoveLocked(sets_.Trim(), removals);
  bytes_ = sets_.bytes();
  return absl::OkStatus();
}

void DataFetches::RemoveLocked(const std::vector<CachedSets::File>& files,
                               std::vector<Removal>& removals) {
  for (const CachedSets::File& file : files) {
    const std::string folder = FolderOf(file.set);
    checked_.erase(absl::StrCat(file.set, "/", file.name));
    const absl::Status removed =
        options_.files.Remove(absl::StrCat(folder, "/", file.name));
    removals.push_back({file, removed});
    if (!removed.ok()) {
      sets_.OnNotRemoved(file);
      continue;
    }
    removed_bytes_ += file.bytes;
    // Refused while files are left in it.
    options_.files.RemoveDirectory(folder).IgnoreError();
  }
}

void DataFetches::Begin(const Request& request) {
  {
    const runtime::MutexLock lock(mutex_);
    auto& line = lines_[request->set];
    line.push_back(request);
    if (line.size() > 1) return;  // End has it go on
  }
  Open(request);
}

void DataFetches::Open(const Request& request) {
  const absl::Status opened = OpenCopy(*request);
  if (!opened.ok()) return End(request, opened);
  {
    const runtime::MutexLock lock(mutex_);
    const auto& shards = request->copy->shards();
    request->left.assign(shards.begin(), shards.end());
    request->running = kAtOnce;
  }
  for (int i = 0; i < kAtOnce; ++i) {
    options_.fetcher.Run([this, request] { BringNext(request); });
  }
}

absl::Status DataFetches::OpenCopy(DataRequest& request) {
  if (request.dropped) return NobodyWantsIt();
  const std::string folder = FolderOf(request.set);
  request.copy = std::make_unique<DataSetCopy>(request.set, folder,
                                               options_.files, *request.source);
  SKERRY_RETURN_IF_ERROR(request.copy->Open());
  SKERRY_RETURN_IF_ERROR(TakeSet(request));
  SKERRY_RETURN_IF_ERROR(request.copy->WriteSmall());
  NoteUse(folder);
  const runtime::MutexLock lock(mutex_);
  for (const File& file : request.copy->SmallFiles()) {
    sets_.OnStored(request.set, file.name);
  }
  return absl::OkStatus();
}

absl::Status DataFetches::TakeSet(DataRequest& request) {
  CachedSets::Sizes sizes;
  for (const File& file : request.copy->SmallFiles()) {
    sizes[file.name] = file.bytes;
  }
  for (const File& file : request.copy->shards()) {
    sizes[file.name] = file.bytes;
  }
  std::vector<Removal> removals;
  {
    const runtime::MutexLock lock(mutex_);
    SKERRY_RETURN_IF_ERROR(LookLocked(removals));
    SKERRY_ASSIGN_OR_RETURN(const std::vector<CachedSets::File> surplus,
                            sets_.Take(request.set, sizes));
    request.holds = true;
    RemoveLocked(surplus, removals);
    bytes_ = sets_.bytes();
  }
  LogRemovals(removals);
  for (const Removal& removal : removals) {
    if (!removal.status.ok()) return removal.status;
  }
  return absl::OkStatus();
}

void DataFetches::BringNext(const Request& request) {
  std::optional<File> file;
  bool is_last = false;
  {
    const runtime::MutexLock lock(mutex_);
    if (request->status.ok() && !request->dropped && !request->left.empty()) {
      file = std::move(request->left.front());
      request->left.pop_front();
    } else {
      is_last = --request->running == 0;
    }
  }
  if (is_last) return End(request, request->status);
  if (!file.has_value()) return;
  const absl::Status brought = Bring(*request, *file);
  if (!brought.ok()) {
    const runtime::MutexLock lock(mutex_);
    request->status.Update(brought);
  }
  // Tasks for other sets have their turn first.
  options_.fetcher.Run([this, request] { BringNext(request); });
}

absl::Status DataFetches::Bring(DataRequest& request, const File& file) {
  if (!IsHere(request, file)) {
    SKERRY_RETURN_IF_ERROR(
        request.copy->Fetch(file, [&](size_t bytes) -> absl::Status {
          fetched_bytes_ += bytes;
          return request.dropped ? NobodyWantsIt() : absl::OkStatus();
        }));
    runtime::Log(
        runtime::Severity::kInfo, "worker.data.fetched",
        {{"set", request.set}, {"file", file.name}, {"bytes", file.bytes}});
  }
  const runtime::MutexLock lock(mutex_);
  sets_.OnStored(request.set, file.name);
  checked_.insert(absl::StrCat(request.set, "/", file.name));
  return absl::OkStatus();
}

bool DataFetches::IsHere(DataRequest& request, const File& file) {
  const std::string key = absl::StrCat(request.set, "/", file.name);
  bool is_checked = false;
  {
    const runtime::MutexLock lock(mutex_);
    if (!sets_.IsStored(request.set, file.name)) return false;
    is_checked = checked_.contains(key);
  }
  if (is_checked ? request.copy->HasLength(file)
                 : request.copy->IsRight(file)) {
    return true;
  }
  runtime::Log(runtime::Severity::kWarning, "worker.data.damaged",
               {{"set", request.set}, {"file", file.name}});
  const runtime::MutexLock lock(mutex_);
  sets_.OnLost(request.set, file.name);
  checked_.erase(key);
  return false;
}

void DataFetches::End(const Request& request, const absl::Status& status) {
  Request next;
  {
    const runtime::MutexLock lock(mutex_);
    request->ended = true;
    if (request->holds && (!status.ok() || request->dropped)) {
      request->holds = false;
      sets_.Release(request->set);
      bytes_ = sets_.bytes();
    }
    request->copy.reset();
    std::deque<Request>& line = lines_[request->set];
    line.pop_front();
    if (line.empty()) {
      lines_.erase(request->set);
    } else {
      next = line.front();
    }
  }
  if (next != nullptr) {
    options_.fetcher.Run([this, next] { Open(next); });
  }
  options_.loop.Post([request, status] {
    if (!request->dropped) std::move(request->done)(status);
  });
}

void DataFetches::Release(const Request& request) {
  const runtime::MutexLock lock(mutex_);
  // A request that is at work lets go when it ends.
  if (!request->ended || !std::exchange(request->holds, false)) return;
  sets_.Release(request->set);
  bytes_ = sets_.bytes();
}

}  // namespace skerry::worker
