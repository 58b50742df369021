// coordinator/service/sqlite_journal.h
//
// Keeps a journal in one SQLite file, which docs/formats/journal.md describes.
#ifndef SKERRY_COORDINATOR_SERVICE_SQLITE_JOURNAL_H_
#define SKERRY_COORDINATOR_SERVICE_SQLITE_JOURNAL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/service/journal.h"
#include "coordinator/service/journal_file.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/posix/folder_lock.h"

namespace skerry::coordinator {

// Every opening takes the folder's lock, holds the database exclusively and
// raises the term that its records carry. So two writers never share a folder.
// A writer whose folder was replaced fails at its next append. A reader notices
// records that two writers mixed.
class SqliteJournal final : public Journal {
 public:
  // Opens `folder`/journal.db, making the folder and the file when they are
  // missing. Blocks. The term is at least `term_min`: a program gives the
  // milliseconds since 1970, so that an older copy of the file that is put in
  // its place takes no term again. `disk` runs the writes, one after the other;
  // `loop` and `disk` outlive the journal, and the journal outlives its last
  // append. Codes: FailedPrecondition, another coordinator has the folder, or
  // the file is of another program or a newer release; DataLoss, the file is
  // damaged; NotFound, PermissionDenied, Internal, the folder cannot be used.
  // One line each, naming the file.
  static absl::StatusOr<std::unique_ptr<SqliteJournal>> Open(
      const std::string& folder, uint64_t term_min, runtime::Executor& disk,
      runtime::EventLoop& loop, JournalFailure on_failure);
  ~SqliteJournal() override;

  absl::StatusOr<std::optional<JournalSnapshot>> ReadSnapshot() override;
  absl::Status Read(
      absl::FunctionRef<absl::Status(const JournalEntry&)> take) override;
  uint64_t term() const override;
  void Append(std::vector<JournalEntry> batch,
              absl::AnyInvocable<void() &&> done) override;
  void Compact(JournalSnapshot snapshot,
               absl::AnyInvocable<void() &&> done) override;

 private:
  SqliteJournal(std::unique_ptr<runtime::FolderLock> lock,
                std::unique_ptr<JournalFile> file, runtime::Executor& disk,
                runtime::EventLoop& loop, JournalFailure on_failure);
  void Write(absl::AnyInvocable<absl::Status() &&> change,
             absl::AnyInvocable<void() &&> done);

  // Freed last: until then nobody else may open the file.
  const std::unique_ptr<runtime::FolderLock> lock_;
  // Used by one thread at a time: the opener's, then `disk_`'s.
  const std::unique_ptr<JournalFile> file_;
  runtime::Executor& disk_;
  runtime::EventLoop& loop_;
  JournalFailure on_failure_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_SQLITE_JOURNAL_H_
