#include "coordinator/service/sqlite_journal.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::coordinator {

absl::StatusOr<std::unique_ptr<SqliteJournal>> SqliteJournal::Open(
    const std::string& folder, uint64_t term_min, runtime::Executor& disk,
    runtime::EventLoop& loop, JournalFailure on_failure) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::ErrnoToStatus(error.value(),
                               absl::StrCat("cannot make folder ", folder));
  }
  SKERRY_ASSIGN_OR_RETURN(std::unique_ptr<runtime::FolderLock> lock,
                          runtime::FolderLock::Take(folder, "coordinator"));
  SKERRY_ASSIGN_OR_RETURN(
      std::unique_ptr<JournalFile> file,
      JournalFile::Open(folder + "/journal.db", JournalFile::Use::kServe,
                        std::nullopt, term_min));
  return std::unique_ptr<SqliteJournal>(new SqliteJournal(
      std::move(lock), std::move(file), disk, loop, std::move(on_failure)));
}

SqliteJournal::SqliteJournal(std::unique_ptr<runtime::FolderLock> lock,
                             std::unique_ptr<JournalFile> file,
                             runtime::Executor& disk, runtime::EventLoop& loop,
                             JournalFailure on_failure)
    : lock_(std::move(lock)),
      file_(std::move(file)),
      disk_(disk),
      loop_(loop),
      on_failure_(std::move(on_failure)) {}

SqliteJournal::~SqliteJournal() = default;

uint64_t SqliteJournal::term() const { return file_->term(); }

absl::StatusOr<std::optional<JournalSnapshot>> SqliteJournal::ReadSnapshot() {
  return file_->ReadSnapshot();
}

absl::Status SqliteJournal::Read(
    absl::FunctionRef<absl::Status(const JournalEntry&)> take) {
  return file_->Read(take);
}

void SqliteJournal::Append(std::vector<JournalEntry> batch,
                           absl::AnyInvocable<void() &&> done) {
  Write([this, batch = std::move(batch)] { return file_->Append(batch); },
        std::move(done));
}

void SqliteJournal::Compact(JournalSnapshot snapshot,
                            absl::AnyInvocable<void() &&> done) {
  Write([this,
         snapshot = std::move(snapshot)] { return file_->Compact(snapshot); },
        std::move(done));
}

void SqliteJournal::Write(absl::AnyInvocable<absl::Status() &&> change,
                          absl::AnyInvocable<void() &&> done) {
  disk_.Run(
      [this, change = std::move(change), done = std::move(done)]() mutable {
        absl::Status written = lock_->StillHeld();
        if (written.ok()) written = std::move(change)();
        if (written.ok()) {
          loop_.Post(std::move(done));
          return;
        }
        loop_.Post([this, written = std::move(written)]() mutable {
          std::move(on_failure_)(std::move(written));
        });
      });
}

}  // namespace skerry::coordinator
