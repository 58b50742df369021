#include "coordinator/service/state_copy.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "coordinator/service/journal_codec.h"
#include "runtime/posix/folder_lock.h"

namespace skerry::coordinator {
namespace {

constexpr char kFile[] = "/journal.db";
constexpr char kLog[] = "/journal.db-wal";

absl::Status CopyFile(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::copy_file(from, to, error);
  if (!error) return absl::OkStatus();
  return absl::ErrnoToStatus(error.value(),
                             absl::StrCat("cannot copy ", from, " to ", to));
}

}  // namespace

absl::StatusOr<std::unique_ptr<StateCopy>> StateCopy::Take(
    const std::string& folder) {
  SKERRY_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::FolderLock> lock,
                          runtime::FolderLock::Share(folder, "coordinator"));
  std::error_code error;
  if (!std::filesystem::exists(folder + kFile, error)) {
    return absl::NotFoundError(absl::StrCat("there is no journal ", folder,
                                            kFile, "; name a state folder"));
  }
  std::string name =
      (std::filesystem::temp_directory_path() / "skerry-state-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", name));
  }
  std::unique_ptr<StateCopy> copy(new StateCopy(std::move(name)));
  SKERRY_RETURN_IF_ERROR(CopyFile(folder + kFile, copy->folder_ + kFile));
  if (std::filesystem::exists(folder + kLog, error)) {
    SKERRY_RETURN_IF_ERROR(CopyFile(folder + kLog, copy->folder_ + kLog));
  }
  SKERRY_ASSIGN_OR_RETURN(
      copy->file_,
      JournalFile::Open(copy->folder_ + kFile, JournalFile::Use::kInspect,
                        folder + kFile));
  return copy;
}

StateCopy::~StateCopy() {
  file_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

absl::StatusOr<FoldedJournal> FoldJournal(JournalFile& file,
                                          const ClusterOptions& options) {
  FoldedJournal folded{Cluster(options), {}, 0, 0, 0};
  SKERRY_ASSIGN_OR_RETURN(const std::optional<JournalSnapshot> snapshot,
                          file.ReadSnapshot());
  if (snapshot.has_value()) {
    absl::StatusOr<SavedCluster> saved = SnapshotFromJournal(*snapshot);
    absl::Status restored = saved.status();
    if (restored.ok()) restored = folded.cluster.Restore(saved->state);
    SKERRY_RETURN_IF_ERROR(
        Annotate(restored, absl::StrCat("snapshot ", snapshot->index.value())));
    folded.events = std::move(saved->events);
    folded.snapshot_index = snapshot->index.value();
    folded.snapshot_bytes = snapshot->payload.size();
  }
  SKERRY_RETURN_IF_ERROR(
      file.Read([&](const JournalEntry& durable) -> absl::Status {
        ++folded.records;
        const absl::StatusOr<Entry> entry = EntryFromJournal(durable);
        absl::Status read = entry.status();
        if (read.ok()) return folded.cluster.Apply(*entry);
        return Annotate(read, absl::StrCat("record ", durable.index.value()));
      }));
  return folded;
}

}  // namespace skerry::coordinator
