#include "coordinator/service/sqlite_journal.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/status.h"
#include "coordinator/service/folder_lock.h"

namespace skerry::coordinator {
namespace {

// "SKRJ", in the file's header, so that file(1) and we know whose it is.
constexpr int64_t kApplicationId = 0x534b524a;
constexpr int64_t kSchemaVersion = 1;

constexpr char kSchema[] =
    "BEGIN IMMEDIATE;"
    "PRAGMA application_id=1397445194;"
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE record("
    " idx INTEGER PRIMARY KEY, term INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " payload BLOB NOT NULL, checksum INTEGER NOT NULL);"
    "INSERT INTO meta VALUES('schema_version', 1), ('term', 0);"
    "COMMIT;";
static_assert(kApplicationId == 1397445194 && kSchemaVersion == 1,
              "as spelled in kSchema");

// Over everything in the row, so that no field can change unseen.
uint64_t ChecksumOf(uint64_t index, uint64_t term, uint64_t kind,
                    std::string_view payload) {
  const std::array<uint64_t, 3> numbers = {index, term, kind};
  const uint64_t head = Hash64Of(std::span<const uint64_t>(numbers));
  return CombineHash(head, Hash64(std::as_bytes(std::span(payload))));
}

// A prepared statement; reset when the guard leaves.
class Statement {
 public:
  ~Statement() { sqlite3_finalize(handle_); }
  sqlite3_stmt** out() { return &handle_; }
  sqlite3_stmt* get() { return handle_; }
  void Reset() {
    sqlite3_reset(handle_);
    sqlite3_clear_bindings(handle_);
  }

 private:
  sqlite3_stmt* handle_ = nullptr;
};

absl::Status SyncFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot open " + folder);
  const int failed = fsync(fd);
  const int error = errno;
  close(fd);
  if (failed) return absl::ErrnoToStatus(error, "cannot sync " + folder);
  return absl::OkStatus();
}

}  // namespace

class SqliteJournal::Database {
 public:
  Database(std::string path, std::unique_ptr<FolderLock> lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  ~Database();

  absl::Status Open();
  absl::Status Read(absl::FunctionRef<absl::Status(const JournalEntry&)> take);
  absl::Status Append(std::span<const JournalEntry> batch);
  uint64_t term() const { return term_; }

 private:
  struct Row {
    JournalEntry entry;
    uint64_t term = 0;
  };

  absl::Status Damaged(std::string_view how) const;
  absl::Status Failed(int code, std::string_view doing) const;
  absl::Status Run(const char* sql);
  absl::StatusOr<int64_t> Number(const char* sql);
  absl::Status RequireOurs();
  absl::Status QuickCheck();
  absl::Status RaiseTerm();
  absl::Status Prepare(const char* sql, Statement& statement);
  absl::Status Insert(const JournalEntry& entry);
  absl::Status AppendAll(std::span<const JournalEntry> batch);
  absl::StatusOr<Row> RowAt(sqlite3_stmt* row) const;

  const std::string path_;
  // Freed last: until then nobody else may open the file.
  const std::unique_ptr<FolderLock> lock_;
  sqlite3* handle_ = nullptr;
  std::unique_ptr<Statement> insert_;
  uint64_t term_ = 0;
  uint64_t last_index_ = 0;
};

SqliteJournal::Database::~Database() {
  insert_.reset();
  sqlite3_close(handle_);
}

absl::Status SqliteJournal::Database::Failed(int code,
                                             std::string_view doing) const {
  const std::string text = absl::StrCat(
      "journal ", path_, ": ", absl::string_view(doing.data(), doing.size()),
      ": ", handle_ ? sqlite3_errmsg(handle_) : "out of memory");
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return absl::FailedPreconditionError(
          absl::StrCat("journal ", path_,
                       " is not a journal of Skerry; name another folder"));
    case SQLITE_CORRUPT:
      return Damaged(sqlite3_errmsg(handle_));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::FailedPreconditionError(
          absl::StrCat("journal ", path_, " is open in another process"));
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      return absl::PermissionDeniedError(text);
    default:
      return absl::InternalError(text);
  }
}

absl::Status SqliteJournal::Database::Run(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Failed(code, "cannot write");
}

absl::Status SqliteJournal::Database::Prepare(const char* sql,
                                              Statement& statement) {
  const int code =
      sqlite3_prepare_v2(handle_, sql, -1, statement.out(), nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Failed(code, "cannot read");
}

absl::StatusOr<int64_t> SqliteJournal::Database::Number(const char* sql) {
  Statement statement;
  SKERRY_RETURN_IF_ERROR(Prepare(sql, statement));
  const int code = sqlite3_step(statement.get());
  if (code == SQLITE_DONE) {
    return Damaged("it lacks a row that it was made with");
  }
  if (code != SQLITE_ROW) return Failed(code, "cannot read");
  return sqlite3_column_int64(statement.get(), 0);
}

absl::Status SqliteJournal::Database::RequireOurs() {
  SKERRY_ASSIGN_OR_RETURN(const int64_t application,
                          Number("PRAGMA application_id"));
  SKERRY_ASSIGN_OR_RETURN(const int64_t tables,
                          Number("SELECT count(*) FROM sqlite_master"));
  if (application == 0 && tables == 0) {
    SKERRY_RETURN_IF_ERROR(Run(kSchema));
    return SyncFolder(std::filesystem::path(path_).parent_path());
  }
  if (application != kApplicationId) {
    return absl::FailedPreconditionError(absl::StrCat(
        "journal ", path_, " is not a journal of Skerry; name another folder"));
  }
  SKERRY_ASSIGN_OR_RETURN(
      const int64_t version,
      Number("SELECT value FROM meta WHERE key='schema_version'"));
  if (version != kSchemaVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("journal ", path_, " has schema version ", version,
                     ", this release reads ", kSchemaVersion,
                     "; start the release that wrote it"));
  }
  return absl::OkStatus();
}

absl::Status SqliteJournal::Database::QuickCheck() {
  Statement statement;
  SKERRY_RETURN_IF_ERROR(Prepare("PRAGMA quick_check(1)", statement));
  const int code = sqlite3_step(statement.get());
  if (code != SQLITE_ROW) return Failed(code, "cannot check");
  const auto* said = sqlite3_column_text(statement.get(), 0);
  if (said == nullptr ||
      std::strcmp(reinterpret_cast<const char*>(said), "ok") != 0) {
    return Damaged("its pages contradict each other");
  }
  return absl::OkStatus();
}

absl::Status SqliteJournal::Database::RaiseTerm() {
  SKERRY_RETURN_IF_ERROR(Run("UPDATE meta SET value=value+1 WHERE key='term'"));
  SKERRY_ASSIGN_OR_RETURN(const int64_t term,
                          Number("SELECT value FROM meta WHERE key='term'"));
  term_ = static_cast<uint64_t>(term);
  SKERRY_ASSIGN_OR_RETURN(const int64_t last,
                          Number("SELECT coalesce(max(idx), 0) FROM record"));
  last_index_ = static_cast<uint64_t>(last);
  return absl::OkStatus();
}

absl::Status SqliteJournal::Database::Open() {
  const int code = sqlite3_open_v2(
      path_.c_str(), &handle_,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
      nullptr);
  if (code != SQLITE_OK) return Failed(code, "cannot open");
  SKERRY_RETURN_IF_ERROR(
      Run("PRAGMA locking_mode=EXCLUSIVE;"
          "PRAGMA trusted_schema=OFF;"
          "PRAGMA cell_size_check=ON;"
          "PRAGMA synchronous=FULL"));
  SKERRY_ASSIGN_OR_RETURN(const int64_t tables,
                          Number("SELECT count(*) FROM sqlite_master"));
  if (tables != 0) SKERRY_RETURN_IF_ERROR(QuickCheck());
  // Not before we know that the file is ours or empty: this writes to it.
  SKERRY_ASSIGN_OR_RETURN(const int64_t application,
                          Number("PRAGMA application_id"));
  if (tables == 0 || application == kApplicationId) {
    SKERRY_RETURN_IF_ERROR(Run("PRAGMA journal_mode=WAL"));
  }
  SKERRY_RETURN_IF_ERROR(RequireOurs());
  SKERRY_RETURN_IF_ERROR(RaiseTerm());
  insert_ = std::make_unique<Statement>();
  return Prepare("INSERT INTO record VALUES(?1, ?2, ?3, ?4, ?5)", *insert_);
}

absl::Status SqliteJournal::Database::Damaged(std::string_view how) const {
  return absl::DataLossError(
      absl::StrCat("journal ", path_,
                   " is damaged: ", absl::string_view(how.data(), how.size()),
                   "; restore the folder from a copy"));
}

absl::StatusOr<SqliteJournal::Database::Row> SqliteJournal::Database::RowAt(
    sqlite3_stmt* row) const {
  const auto index = static_cast<uint64_t>(sqlite3_column_int64(row, 0));
  const auto term = static_cast<uint64_t>(sqlite3_column_int64(row, 1));
  const auto kind = static_cast<uint64_t>(sqlite3_column_int64(row, 2));
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, 3));
  const int size = sqlite3_column_bytes(row, 3);
  const std::string_view payload(bytes, static_cast<size_t>(size));
  const auto checksum = static_cast<uint64_t>(sqlite3_column_int64(row, 4));
  if (checksum != ChecksumOf(index, term, kind, payload)) {
    return Damaged(
        absl::StrCat("record ", index, " does not match its checksum"));
  }
  return Row{.entry = {Revision(index), static_cast<uint32_t>(kind),
                       std::string(payload)},
             .term = term};
}

absl::Status SqliteJournal::Database::Read(
    absl::FunctionRef<absl::Status(const JournalEntry&)> take) {
  Statement rows;
  SKERRY_RETURN_IF_ERROR(
      Prepare("SELECT idx, term, kind, payload, checksum FROM record"
              " ORDER BY idx",
              rows));
  uint64_t newest_term = 0;
  for (uint64_t expected = 1;; ++expected) {
    const int code = sqlite3_step(rows.get());
    if (code == SQLITE_DONE) return absl::OkStatus();
    if (code != SQLITE_ROW) return Failed(code, "cannot read");
    SKERRY_ASSIGN_OR_RETURN(const Row row, RowAt(rows.get()));
    if (row.entry.index.value() != expected) {
      return Damaged(absl::StrCat("record ", expected, " is missing"));
    }
    if (row.term < newest_term || row.term > term_) {
      return Damaged(absl::StrCat("record ", expected, " is of term ", row.term,
                                  ", out of order"));
    }
    newest_term = row.term;
    SKERRY_RETURN_IF_ERROR(take(row.entry));
  }
}

absl::Status SqliteJournal::Database::Insert(const JournalEntry& entry) {
  SKERRY_CHECK(entry.index.value() == last_index_ + 1);
  const uint64_t checksum =
      ChecksumOf(entry.index.value(), term_, entry.kind, entry.payload);
  sqlite3_stmt* row = insert_->get();
  insert_->Reset();
  sqlite3_bind_int64(row, 1, static_cast<int64_t>(entry.index.value()));
  sqlite3_bind_int64(row, 2, static_cast<int64_t>(term_));
  sqlite3_bind_int64(row, 3, entry.kind);
  sqlite3_bind_blob64(row, 4, entry.payload.data(), entry.payload.size(),
                      SQLITE_STATIC);
  sqlite3_bind_int64(row, 5, static_cast<int64_t>(checksum));
  const int code = sqlite3_step(row);
  if (code != SQLITE_DONE) return Failed(code, "cannot append");
  ++last_index_;
  return absl::OkStatus();
}

absl::Status SqliteJournal::Database::AppendAll(
    std::span<const JournalEntry> batch) {
  for (const JournalEntry& entry : batch) {
    SKERRY_RETURN_IF_ERROR(Insert(entry));
  }
  insert_->Reset();
  return Run("COMMIT");
}

absl::Status SqliteJournal::Database::Append(
    std::span<const JournalEntry> batch) {
  SKERRY_RETURN_IF_ERROR(lock_->StillHeld());
  SKERRY_RETURN_IF_ERROR(Run("BEGIN IMMEDIATE"));
  const absl::Status appended = AppendAll(batch);
  if (!appended.ok()) {
    insert_->Reset();
    Run("ROLLBACK").IgnoreError();
  }
  return appended;
}

absl::StatusOr<std::unique_ptr<SqliteJournal>> SqliteJournal::Open(
    const std::string& folder, runtime::Executor& disk,
    runtime::EventLoop& loop, JournalFailure on_failure) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::ErrnoToStatus(error.value(),
                               absl::StrCat("cannot make folder ", folder));
  }
  SKERRY_ASSIGN_OR_RETURN(std::unique_ptr<FolderLock> lock,
                          FolderLock::Take(folder));
  auto database =
      std::make_unique<Database>(folder + "/journal.db", std::move(lock));
  SKERRY_RETURN_IF_ERROR(database->Open());
  return std::unique_ptr<SqliteJournal>(new SqliteJournal(
      std::move(database), disk, loop, std::move(on_failure)));
}

SqliteJournal::SqliteJournal(std::unique_ptr<Database> database,
                             runtime::Executor& disk, runtime::EventLoop& loop,
                             JournalFailure on_failure)
    : database_(std::move(database)),
      disk_(disk),
      loop_(loop),
      on_failure_(std::move(on_failure)) {}

SqliteJournal::~SqliteJournal() = default;

uint64_t SqliteJournal::term() const { return database_->term(); }

absl::Status SqliteJournal::Read(
    absl::FunctionRef<absl::Status(const JournalEntry&)> take) {
  return database_->Read(take);
}

void SqliteJournal::Append(std::vector<JournalEntry> batch,
                           absl::AnyInvocable<void() &&> done) {
  disk_.Run([this, batch = std::move(batch), done = std::move(done)]() mutable {
    absl::Status written = database_->Append(batch);
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
