#include "worker/daemon/data_looks.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "base/s3_location.h"
#include "checkpoint/folder_owner.h"
#include "data/manifest.h"
#include "job/checkpoint_owner.h"
#include "job/text_forms.h"
#include "runtime/posix/errno_hint.h"
#include "runtime/posix/mapped_file.h"
#include "runtime/posix/posix_files.h"

namespace skerry::worker {
namespace {

constexpr size_t kManifestBytesMax = 64 << 20;
// Somebody may be putting right what was wrong.
constexpr absl::Duration kLookAgain = absl::Seconds(2);

// Why this process could not write into `folder`, which it would make when it
// is not there; empty when it could. Nothing is written to find out.
std::string WhyNotWritable(const std::string& folder) {
  std::filesystem::path there = folder;
  std::error_code unreadable;
  while (!std::filesystem::exists(there, unreadable) &&
         there.has_parent_path() && there != there.parent_path()) {
    there = there.parent_path();
  }
  if (!std::filesystem::is_directory(there, unreadable)) {
    return absl::StrCat(there.string(), " is not a folder");
  }
  if (access(there.c_str(), W_OK | X_OK) == 0) return "";
  return absl::StrCat("cannot write into ", there.string(), ": ",
                      runtime::ErrnoText(errno));
}

// Names the job whose checkpoints `folder` has; empty when it has none.
std::string WhoseCheckpoints(const std::string& folder) {
  runtime::PosixFiles files;
  const auto owner = checkpoint::FindFolderOwner(folder, files);
  // Anybody may have written the file, and only a job's name is passed on.
  if (!owner.has_value() || !job::IsLabel(owner->job, "")) return "";
  return job::CheckpointOwnerText(folder, owner->job, JobId(owner->job_id));
}

job::DataFacts ReadData(const std::string& folder) {
  const std::string path =
      absl::StrCat(folder, "/",
                   absl::string_view(data::kManifestFile.data(),
                                     data::kManifestFile.size()));
  const auto file = runtime::MappedFile::Open(path);
  job::DataFacts facts;
  facts.path = folder;
  if (!file.ok()) {
    facts.error = std::string(file.status().message());
    return facts;
  }
  const auto bytes = (*file)->bytes();
  if (bytes.size() > kManifestBytesMax) {
    facts.error = absl::StrCat(path, " has ", bytes.size(), " bytes, at most ",
                               kManifestBytesMax, " are read");
    return facts;
  }
  return job::DataFactsOf(
      folder, std::string_view(reinterpret_cast<const char*>(bytes.data()),
                               bytes.size()));
}

job::DataFacts Read(const std::string& folder) {
  if (IsS3Place(folder)) {
    // Asking the store would send requests for a job that nobody submits. The
    // worker asks when the job is there.
    job::DataFacts facts;
    facts.path = folder;
    facts.error = "it is in an object store, which is asked by the jobs";
    return facts;
  }
  job::DataFacts facts = ReadData(folder);
  facts.save_error = WhyNotWritable(folder);
  if (facts.save_error.empty()) facts.save_error = WhoseCheckpoints(folder);
  return facts;
}

}  // namespace

DataLooks::DataLooks(runtime::EventLoop& loop, runtime::Executor& reader,
                     absl::AnyInvocable<void()> changed)
    : loop_(loop), reader_(reader), changed_(std::move(changed)) {}

void DataLooks::OnPaths(const std::vector<std::string>& paths) {
  for (auto it = found_.begin(); it != found_.end();) {
    const bool named =
        std::find(paths.begin(), paths.end(), it->first) != paths.end();
    it = named ? std::next(it) : found_.erase(it);
  }
  for (const std::string& path : paths) {
    if (found_.try_emplace(path).second) Look(path);
  }
  if (!looking_ && !found_.empty()) KeepLooking();
}

void DataLooks::KeepLooking() {
  looking_ = true;
  loop_.RunAt(loop_.Now() + kLookAgain,
              [this, alive = std::weak_ptr<char>(alive_)] {
                if (alive.expired()) return;
                looking_ = false;
                if (found_.empty()) return;
                for (const auto& [path, found] : found_) Look(path);
                KeepLooking();
              });
}

void DataLooks::Look(const std::string& path) {
  // A disk that hangs is asked once.
  if (std::exchange(found_[path].reading, true)) return;
  reader_.Run([this, path, &loop = loop_,
               alive = std::weak_ptr<char>(alive_)]() mutable {
    job::DataFacts facts = Read(path);
    loop.Post(
        [this, facts = std::move(facts), alive = std::move(alive)]() mutable {
          if (alive.expired()) return;
          const auto it = found_.find(facts.path);
          if (it == found_.end()) return;
          it->second.reading = false;
          if (it->second.facts == facts) return;
          it->second.facts = std::move(facts);
          changed_();
        });
  });
}

std::vector<job::DataFacts> DataLooks::Facts() const {
  std::vector<job::DataFacts> facts;
  for (const auto& [path, found] : found_) {
    if (found.facts.has_value()) facts.push_back(*found.facts);
  }
  return facts;
}

}  // namespace skerry::worker
