#include "coordinator/service/journal_file.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/status.h"

namespace skerry::coordinator {
namespace {

// "SKRJ", in the file's header, so that file(1) and we know whose it is.
constexpr int64_t kApplicationId = 0x534b524a;

constexpr char kFirstSchema[] =
    "PRAGMA application_id=1397445194;"
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE record("
    " idx INTEGER PRIMARY KEY, term INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " payload BLOB NOT NULL, checksum INTEGER NOT NULL);"
    "INSERT INTO meta VALUES('schema_version', 1), ('term', 0);";
static_assert(kApplicationId == 1397445194, "as spelled in kFirstSchema");

// Entry i makes version i + 2 of version i + 1.
constexpr std::array<const char*, 1> kMigrations = {
    "CREATE TABLE snapshot("
    " idx INTEGER PRIMARY KEY, term INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " payload BLOB NOT NULL, checksum INTEGER NOT NULL);"
    "UPDATE meta SET value=2 WHERE key='schema_version';",
};
constexpr int64_t kSchemaVersion = 1 + int64_t{kMigrations.size()};

// The kind in a snapshot's row, which is the version of its payload's meaning.
constexpr uint64_t kSnapshotKind = 1;

// Covers everything in the row, so that no field can change unseen.
uint64_t ChecksumOf(uint64_t index, uint64_t term, uint64_t kind,
                    std::string_view payload) {
  const std::array<uint64_t, 3> numbers = {index, term, kind};
  const uint64_t head = Hash64Of(std::span<const uint64_t>(numbers));
  return CombineHash(head, Hash64(std::as_bytes(std::span(payload))));
}

void Bind(sqlite3_stmt* row, uint64_t index, uint64_t term, uint64_t kind,
          std::string_view payload) {
  sqlite3_bind_int64(row, 1, static_cast<int64_t>(index));
  sqlite3_bind_int64(row, 2, static_cast<int64_t>(term));
  sqlite3_bind_int64(row, 3, static_cast<int64_t>(kind));
  sqlite3_bind_blob64(row, 4, payload.data(), payload.size(), SQLITE_STATIC);
  sqlite3_bind_int64(
      row, 5, static_cast<int64_t>(ChecksumOf(index, term, kind, payload)));
}

absl::Status SyncFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot open " + folder);
  const int failed = fsync(fd);
  const int error = errno;
  close(fd);
  if (failed) return absl::ErrnoToStatus(error, "cannot sync " + folder);
  return absl::OkStatus();
}

std::string FolderOf(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

struct JournalFile::Row {
  JournalEntry entry;
  uint64_t term = 0;
};

class JournalFile::Statement {
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

JournalFile::JournalFile(std::string path, std::string named)
    : path_(std::move(path)), named_(std::move(named)) {}

JournalFile::~JournalFile() {
  insert_.reset();
  sqlite3_close(handle_);
}

absl::Status JournalFile::Failed(int code, std::string_view doing) const {
  const std::string text = absl::StrCat(
      "journal ", named_, ": ", absl::string_view(doing.data(), doing.size()),
      ": ", handle_ ? sqlite3_errmsg(handle_) : "out of memory");
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return absl::FailedPreconditionError(
          absl::StrCat("journal ", named_,
                       " is not a journal of Skerry; name another folder"));
    case SQLITE_CORRUPT:
      return Damaged(sqlite3_errmsg(handle_));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::FailedPreconditionError(
          absl::StrCat("journal ", named_, " is open in another process"));
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      return absl::PermissionDeniedError(text);
    default:
      return absl::InternalError(text);
  }
}

absl::Status JournalFile::Damaged(std::string_view how) const {
  return absl::DataLossError(
      absl::StrCat("journal ", named_,
                   " is damaged: ", absl::string_view(how.data(), how.size()),
                   "; restore the folder from a copy"));
}

absl::Status JournalFile::Run(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Failed(code, "cannot write");
}

absl::Status JournalFile::Prepare(const char* sql, Statement& statement) {
  const int code =
      sqlite3_prepare_v2(handle_, sql, -1, statement.out(), nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Failed(code, "cannot read");
}

absl::StatusOr<int64_t> JournalFile::Number(const char* sql) {
  Statement statement;
  SKERRY_RETURN_IF_ERROR(Prepare(sql, statement));
  const int code = sqlite3_step(statement.get());
  if (code == SQLITE_DONE) {
    return Damaged("it lacks a row that it was made with");
  }
  if (code != SQLITE_ROW) return Failed(code, "cannot read");
  return sqlite3_column_int64(statement.get(), 0);
}

absl::Status JournalFile::InTransaction(
    absl::FunctionRef<absl::Status()> change) {
  SKERRY_RETURN_IF_ERROR(Run("BEGIN IMMEDIATE"));
  absl::Status changed = change();
  if (changed.ok()) changed = Run("COMMIT");
  if (!changed.ok()) {
    if (insert_ != nullptr) insert_->Reset();
    Run("ROLLBACK").IgnoreError();
  }
  return changed;
}

absl::StatusOr<std::unique_ptr<JournalFile>> JournalFile::Open(
    const std::string& path, Use use, const std::optional<std::string>& named,
    uint64_t term_min) {
  std::unique_ptr<JournalFile> file(
      new JournalFile(path, named.value_or(path)));
  SKERRY_RETURN_IF_ERROR(file->OpenHandle(use));
  SKERRY_ASSIGN_OR_RETURN(const int64_t tables,
                          file->Number("SELECT count(*) FROM sqlite_master"));
  SKERRY_ASSIGN_OR_RETURN(const int64_t application,
                          file->Number("PRAGMA application_id"));
  const bool empty = tables == 0 && application == 0;
  if (!empty) SKERRY_RETURN_IF_ERROR(file->CheckPages(use));
  if (use == Use::kInspect) {
    SKERRY_RETURN_IF_ERROR(file->RequireOurs());
    SKERRY_RETURN_IF_ERROR(file->ReadMarks());
    return file;
  }
  // Not before we know that the file is ours or empty: this writes to it.
  if (empty || application == kApplicationId) {
    SKERRY_RETURN_IF_ERROR(file->Run("PRAGMA journal_mode=WAL"));
  }
  if (empty) SKERRY_RETURN_IF_ERROR(file->MakeSchema());
  SKERRY_RETURN_IF_ERROR(file->RequireOurs());
  SKERRY_RETURN_IF_ERROR(file->Migrate());
  SKERRY_RETURN_IF_ERROR(
      file->Run(absl::StrCat("UPDATE meta SET value=max(value+1, ", term_min,
                             ") WHERE key='term'")
                    .c_str()));
  SKERRY_RETURN_IF_ERROR(file->ReadMarks());
  file->insert_ = std::make_unique<Statement>();
  SKERRY_RETURN_IF_ERROR(file->Prepare(
      "INSERT INTO record VALUES(?1, ?2, ?3, ?4, ?5)", *file->insert_));
  return file;
}

absl::Status JournalFile::OpenHandle(Use use) {
  if (use == Use::kInspect && access(path_.c_str(), F_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat("there is no journal ", named_, "; name a state folder"));
  }
  const int code = sqlite3_open_v2(
      path_.c_str(), &handle_,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
      nullptr);
  if (code != SQLITE_OK) return Failed(code, "cannot open");
  // What was written is not read again while the process lives, so pages are
  // kept for the ends of the tables alone: 256 KiB.
  return Run(
      "PRAGMA cache_size=-256;"
      "PRAGMA locking_mode=EXCLUSIVE;"
      "PRAGMA trusted_schema=OFF;"
      "PRAGMA cell_size_check=ON;"
      "PRAGMA synchronous=FULL");
}

absl::Status JournalFile::CheckPages(Use use) {
  Statement statement;
  SKERRY_RETURN_IF_ERROR(Prepare(use == Use::kInspect
                                     ? "PRAGMA integrity_check(1)"
                                     : "PRAGMA quick_check(1)",
                                 statement));
  const int code = sqlite3_step(statement.get());
  if (code != SQLITE_ROW) return Failed(code, "cannot check");
  const auto* said = sqlite3_column_text(statement.get(), 0);
  if (said == nullptr ||
      std::strcmp(reinterpret_cast<const char*>(said), "ok") != 0) {
    return Damaged("its pages contradict each other");
  }
  return absl::OkStatus();
}

absl::Status JournalFile::RequireOurs() {
  SKERRY_ASSIGN_OR_RETURN(const int64_t application,
                          Number("PRAGMA application_id"));
  if (application != kApplicationId) {
    return absl::FailedPreconditionError(
        absl::StrCat("journal ", named_,
                     " is not a journal of Skerry; name another folder"));
  }
  SKERRY_ASSIGN_OR_RETURN(
      schema_version_,
      Number("SELECT value FROM meta WHERE key='schema_version'"));
  if (schema_version_ < 1 || schema_version_ > kSchemaVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("journal ", named_, " has schema version ",
                     schema_version_, ", this release reads 1 to ",
                     kSchemaVersion, "; start the release that wrote it"));
  }
  return absl::OkStatus();
}

absl::Status JournalFile::MakeSchema() {
  SKERRY_RETURN_IF_ERROR(InTransaction([&] { return Run(kFirstSchema); }));
  return SyncFolder(FolderOf(path_));
}

absl::Status JournalFile::Migrate() {
  if (schema_version_ == kSchemaVersion) return absl::OkStatus();
  return InTransaction([&]() -> absl::Status {
    for (int64_t from = schema_version_; from < kSchemaVersion; ++from) {
      SKERRY_RETURN_IF_ERROR(Run(kMigrations[from - 1]));
    }
    return absl::OkStatus();
  });
}

absl::Status JournalFile::ReadMarks() {
  SKERRY_ASSIGN_OR_RETURN(const int64_t term,
                          Number("SELECT value FROM meta WHERE key='term'"));
  term_ = static_cast<uint64_t>(term);
  SKERRY_ASSIGN_OR_RETURN(
      const int64_t snapshots,
      Number("SELECT count(*) FROM sqlite_master WHERE name='snapshot'"));
  if (snapshots > 0) {
    SKERRY_ASSIGN_OR_RETURN(
        const int64_t snapshot,
        Number("SELECT coalesce(max(idx), 0) FROM snapshot"));
    snapshot_index_ = static_cast<uint64_t>(snapshot);
  }
  SKERRY_ASSIGN_OR_RETURN(const int64_t last,
                          Number("SELECT coalesce(max(idx), 0) FROM record"));
  last_index_ = std::max(snapshot_index_, static_cast<uint64_t>(last));
  return absl::OkStatus();
}

absl::StatusOr<JournalFile::Row> JournalFile::RowAt(
    sqlite3_stmt* row, std::string_view what) const {
  const auto index = static_cast<uint64_t>(sqlite3_column_int64(row, 0));
  const auto term = static_cast<uint64_t>(sqlite3_column_int64(row, 1));
  const auto kind = static_cast<uint64_t>(sqlite3_column_int64(row, 2));
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, 3));
  const int size = sqlite3_column_bytes(row, 3);
  const std::string_view payload(bytes, static_cast<size_t>(size));
  const auto checksum = static_cast<uint64_t>(sqlite3_column_int64(row, 4));
  if (checksum != ChecksumOf(index, term, kind, payload)) {
    return Damaged(absl::StrCat(absl::string_view(what.data(), what.size()),
                                " ", index, " does not match its checksum"));
  }
  return Row{.entry = {Revision(index), static_cast<uint32_t>(kind),
                       std::string(payload)},
             .term = term};
}

absl::StatusOr<std::optional<JournalSnapshot>> JournalFile::ReadSnapshot() {
  if (snapshot_index_ == 0) return std::optional<JournalSnapshot>();
  Statement rows;
  SKERRY_RETURN_IF_ERROR(
      Prepare("SELECT idx, term, kind, payload, checksum FROM snapshot"
              " ORDER BY idx DESC LIMIT 1",
              rows));
  const int code = sqlite3_step(rows.get());
  if (code != SQLITE_ROW) return Failed(code, "cannot read");
  SKERRY_ASSIGN_OR_RETURN(Row row, RowAt(rows.get(), "snapshot"));
  if (row.entry.kind != kSnapshotKind) {
    return absl::FailedPreconditionError(
        absl::StrCat("journal ", named_, " has a snapshot of version ",
                     row.entry.kind, ", this release reads ", kSnapshotKind,
                     "; start the release that wrote it"));
  }
  return std::optional<JournalSnapshot>(
      {row.entry.index, std::move(row.entry.payload)});
}

absl::Status JournalFile::Read(
    absl::FunctionRef<absl::Status(const JournalEntry&)> take) {
  Statement rows;
  SKERRY_RETURN_IF_ERROR(
      Prepare("SELECT idx, term, kind, payload, checksum FROM record"
              " ORDER BY idx",
              rows));
  uint64_t newest_term = 0;
  for (uint64_t last = snapshot_index_;;) {
    const int code = sqlite3_step(rows.get());
    if (code == SQLITE_DONE) return absl::OkStatus();
    if (code != SQLITE_ROW) return Failed(code, "cannot read");
    SKERRY_ASSIGN_OR_RETURN(const Row row, RowAt(rows.get(), "record"));
    const uint64_t index = row.entry.index.value();
    if (!Follows(row.entry.kind, index, last)) {
      return Damaged(absl::StrCat("record ", last + 1, " is missing"));
    }
    last = index;
    if (row.term < newest_term || row.term > term_) {
      return Damaged(absl::StrCat("record ", index, " is of term ", row.term,
                                  ", out of order"));
    }
    newest_term = row.term;
    SKERRY_RETURN_IF_ERROR(take(row.entry));
  }
}

absl::Status JournalFile::Insert(const JournalEntry& entry) {
  SKERRY_CHECK(Follows(entry.kind, entry.index.value(), last_index_));
  insert_->Reset();
  Bind(insert_->get(), entry.index.value(), term_, entry.kind, entry.payload);
  const int code = sqlite3_step(insert_->get());
  if (code != SQLITE_DONE) return Failed(code, "cannot append");
  last_index_ = entry.index.value();
  return absl::OkStatus();
}

absl::Status JournalFile::InsertAll(std::span<const JournalEntry> batch) {
  for (const JournalEntry& entry : batch) {
    SKERRY_RETURN_IF_ERROR(Insert(entry));
  }
  insert_->Reset();
  return absl::OkStatus();
}

absl::Status JournalFile::Append(std::span<const JournalEntry> batch) {
  return InTransaction([&] { return InsertAll(batch); });
}

absl::Status JournalFile::Replace(const JournalSnapshot& snapshot) {
  Statement insert;
  SKERRY_RETURN_IF_ERROR(Run("DELETE FROM snapshot; DELETE FROM record"));
  SKERRY_RETURN_IF_ERROR(
      Prepare("INSERT INTO snapshot VALUES(?1, ?2, ?3, ?4, ?5)", insert));
  Bind(insert.get(), snapshot.index.value(), term_, kSnapshotKind,
       snapshot.payload);
  const int code = sqlite3_step(insert.get());
  return code == SQLITE_DONE ? absl::OkStatus() : Failed(code, "cannot write");
}

absl::Status JournalFile::Compact(const JournalSnapshot& snapshot) {
  SKERRY_CHECK(snapshot.index.value() == last_index_);
  SKERRY_RETURN_IF_ERROR(InTransaction([&] { return Replace(snapshot); }));
  snapshot_index_ = last_index_;
  return absl::OkStatus();
}

absl::Status JournalFile::CopyPages(sqlite3* to) {
  sqlite3_backup* copy = sqlite3_backup_init(to, "main", handle_, "main");
  if (copy == nullptr) return absl::InternalError(sqlite3_errmsg(to));
  const int stepped = sqlite3_backup_step(copy, -1);
  const int finished = sqlite3_backup_finish(copy);
  if (stepped == SQLITE_DONE && finished == SQLITE_OK) {
    // One file: whoever copies it on need not know of a log.
    const int plain = sqlite3_exec(to, "PRAGMA journal_mode=DELETE", nullptr,
                                   nullptr, nullptr);
    if (plain == SQLITE_OK) return absl::OkStatus();
  }
  return absl::InternalError(sqlite3_errmsg(to));
}

absl::Status JournalFile::BackUp(const std::string& to) {
  if (access(to.c_str(), F_OK) == 0) {
    return absl::AlreadyExistsError(
        absl::StrCat(to, " is there already; name another folder"));
  }
  const std::string part = to + ".part";
  std::error_code ignored;
  std::filesystem::remove(part, ignored);
  sqlite3* copy = nullptr;
  const int code = sqlite3_open(part.c_str(), &copy);
  absl::Status copied = code == SQLITE_OK
                            ? CopyPages(copy)
                            : absl::InternalError(sqlite3_errmsg(copy));
  sqlite3_close(copy);
  if (copied.ok() && rename(part.c_str(), to.c_str()) != 0) {
    copied = absl::ErrnoToStatus(errno, "cannot rename");
  }
  if (copied.ok()) return SyncFolder(FolderOf(to));
  std::filesystem::remove(part, ignored);
  return Annotate(copied, absl::StrCat("backup ", to));
}

}  // namespace skerry::coordinator
