// coordinator/service/journal_file.h
//
// Reads and writes the SQLite file of the journal, which
// docs/formats/journal.md describes. Every call blocks. One thread may use it
// at a time.
#ifndef SKERRY_COORDINATOR_SERVICE_JOURNAL_FILE_H_
#define SKERRY_COORDINATOR_SERVICE_JOURNAL_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/service/journal.h"

struct sqlite3;
struct sqlite3_stmt;

namespace skerry::coordinator {

// Every call has these errors, in one line that names the file.
// FailedPrecondition: the file is of another program or of a newer release, or
// is open elsewhere. DataLoss: it is damaged. PermissionDenied and Internal: it
// cannot be used.
class JournalFile {
 public:
  enum class Use {
    // Makes the file when it is missing, brings an older schema up to date in
    // one transaction, and raises the term: by one, or to `term_min` where that
    // is more.
    kServe,
    // Changes nothing and looks at every page. NotFound when there is none.
    kInspect,
  };

  // Errors call the file `named`; unset: `path`.
  static absl::StatusOr<std::unique_ptr<JournalFile>> Open(
      const std::string& path, Use use,
      const std::optional<std::string>& named = std::nullopt,
      uint64_t term_min = 0);
  ~JournalFile();
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  absl::StatusOr<std::optional<JournalSnapshot>> ReadSnapshot();
  absl::Status Read(absl::FunctionRef<absl::Status(const JournalEntry&)> take);
  // Both are on disk as a whole when they return OK.
  absl::Status Append(std::span<const JournalEntry> batch);
  absl::Status Compact(const JournalSnapshot& snapshot);
  // Copies all of it to a new file without a log beside it, and syncs that.
  // AlreadyExists when there is one.
  absl::Status BackUp(const std::string& to);

  uint64_t term() const { return term_; }
  // As it was found.
  int64_t schema_version() const { return schema_version_; }

 private:
  struct Row;
  class Statement;

  JournalFile(std::string path, std::string named);
  absl::Status CopyPages(sqlite3* to);
  absl::Status Damaged(std::string_view how) const;
  absl::Status Failed(int code, std::string_view doing) const;
  absl::Status Run(const char* sql);
  absl::StatusOr<int64_t> Number(const char* sql);
  absl::Status Prepare(const char* sql, Statement& statement);
  absl::Status OpenHandle(Use use);
  absl::Status CheckPages(Use use);
  absl::Status RequireOurs();
  absl::Status MakeSchema();
  absl::Status Migrate();
  absl::Status ReadMarks();
  absl::Status Insert(const JournalEntry& entry);
  absl::Status InsertAll(std::span<const JournalEntry> batch);
  absl::Status Replace(const JournalSnapshot& snapshot);
  absl::Status InTransaction(absl::FunctionRef<absl::Status()> change);
  absl::StatusOr<Row> RowAt(sqlite3_stmt* row, std::string_view what) const;

  const std::string path_;
  const std::string named_;
  sqlite3* handle_ = nullptr;
  std::unique_ptr<Statement> insert_;
  int64_t schema_version_ = 0;
  uint64_t term_ = 0;
  uint64_t snapshot_index_ = 0;
  uint64_t last_index_ = 0;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_JOURNAL_FILE_H_
