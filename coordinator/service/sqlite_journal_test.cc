#include "coordinator/service/sqlite_journal.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/service/testing/journal_conformance.h"
#include "coordinator/service/testing/memory_journal.h"
#include "gmock/gmock.h"
#include "runtime/testing/inline_executor.h"
#include "runtime/testing/manual_loop.h"

namespace skerry::coordinator {
namespace {

using testing::HasSubstr;
using testing::Not;

// Removed with everything in it.
class TempFolder {
 public:
  TempFolder() {
    std::string name = testing::TempDir() + "journal-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class MemoryHome final : public JournalHome {
 public:
  std::unique_ptr<Journal> Open(runtime::EventLoop& loop,
                                JournalFailure on_failure) override {
    return std::make_unique<MemoryJournal>(disk_, loop, std::move(on_failure));
  }
  void Crash() override {}

 private:
  MemoryDisk disk_;
};

// A crash is a copy of the files while the journal is open.
class SqliteHome final : public JournalHome {
 public:
  std::unique_ptr<Journal> Open(runtime::EventLoop& loop,
                                JournalFailure on_failure) override {
    auto journal =
        SqliteJournal::Open(Folder(), 0, disk_, loop, std::move(on_failure));
    EXPECT_TRUE(journal.ok()) << journal.status();
    return journal.ok() ? *std::move(journal) : nullptr;
  }
  void Crash() override {
    const std::string from = Folder();
    ++crashes_;
    std::filesystem::copy(from, Folder());
  }

 private:
  std::string Folder() const {
    return absl::StrCat(root_.path(), "/", crashes_);
  }
  TempFolder root_;
  int crashes_ = 0;
  runtime::InlineExecutor disk_;
};

INSTANTIATE_TEST_SUITE_P(
    Journals, JournalConformance,
    testing::Values(
        JournalKind{"Memory", [] { return std::make_unique<MemoryHome>(); }},
        JournalKind{"Sqlite", [] { return std::make_unique<SqliteHome>(); }}),
    [](const auto& info) { return info.param.name; });

class SqliteJournalTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<SqliteJournal>> Open() {
    return SqliteJournal::Open(
        folder_.path(), 0, disk_, loop_,
        [this](absl::Status status) { failure_ = std::move(status); });
  }
  std::string DatabasePath() const { return folder_.path() + "/journal.db"; }
  // Appends `count` records and closes.
  void Fill(uint64_t count) {
    auto journal = Open();
    ASSERT_TRUE(journal.ok()) << journal.status();
    std::vector<JournalEntry> batch;
    for (uint64_t index = 1; index <= count; ++index) {
      batch.push_back({Revision(index), 1, absl::StrCat("payload ", index)});
    }
    (*journal)->Append(std::move(batch), [] {});
    loop_.RunUntilIdle();
  }
  void Edit(const std::string& sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(DatabasePath().c_str(), &handle), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &error),
              SQLITE_OK)
        << error;
    sqlite3_close(handle);
  }
  // A snapshot of three records and one record after it.
  void FillAndCompact() {
    Fill(3);
    auto journal = Open();
    ASSERT_TRUE(journal.ok()) << journal.status();
    (*journal)->Compact({Revision(3), "three"}, [] {});
    (*journal)->Append({{Revision(4), 1, "four"}}, [] {});
    loop_.RunUntilIdle();
  }
  static uint64_t CountOf(Journal& journal) {
    uint64_t count = 0;
    const absl::Status status = journal.Read([&](const JournalEntry&) {
      ++count;
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return count;
  }
  absl::Status ReadStatus() {
    auto journal = Open();
    if (!journal.ok()) return journal.status();
    return (*journal)->Read(
        [](const JournalEntry&) { return absl::OkStatus(); });
  }

  TempFolder folder_;
  runtime::InlineExecutor disk_;
  runtime::ManualLoop loop_;
  absl::Status failure_;
};

void ExpectOneLine(const absl::Status& status, absl::StatusCode code,
                   const std::string& part) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
}

TEST_F(SqliteJournalTest, AFolderHasOneWriter) {
  auto first = Open();
  ASSERT_TRUE(first.ok()) << first.status();
  ExpectOneLine(
      Open().status(), absl::StatusCode::kFailedPrecondition,
      absl::StrCat("in use by another coordinator (process ", getpid(), ")"));
  first->reset();
  EXPECT_TRUE(Open().ok());
}

TEST_F(SqliteJournalTest, ARemovedLockFileDoesNotLetASecondWriterIn) {
  auto first = Open();
  ASSERT_TRUE(first.ok()) << first.status();
  std::filesystem::remove(folder_.path() + "/lock");
  ExpectOneLine(Open().status(), absl::StatusCode::kFailedPrecondition,
                "open in another process");
}

TEST_F(SqliteJournalTest, AWriterWhoseFolderWasReplacedFails) {
  auto deposed = Open();
  ASSERT_TRUE(deposed.ok()) << deposed.status();
  std::filesystem::rename(folder_.path(), folder_.path() + ".old");
  auto next = Open();
  ASSERT_TRUE(next.ok()) << next.status();
  bool done = false;
  (*deposed)->Append({{Revision(1), 1, "late"}}, [&] { done = true; });
  loop_.RunUntilIdle();
  EXPECT_FALSE(done);
  ExpectOneLine(failure_, absl::StatusCode::kAborted, "removed or replaced");
  deposed->reset();
  std::filesystem::remove_all(folder_.path() + ".old");
}

TEST_F(SqliteJournalTest, AChangedRecordIsRefused) {
  for (const char* change :
       {"UPDATE record SET payload='payload X' WHERE idx=2",
        "UPDATE record SET kind=9 WHERE idx=2",
        "UPDATE record SET checksum=checksum+1 WHERE idx=2"}) {
    SCOPED_TRACE(change);
    std::filesystem::remove(DatabasePath());
    Fill(3);
    EXPECT_TRUE(ReadStatus().ok());
    Edit(change);
    ExpectOneLine(ReadStatus(), absl::StatusCode::kDataLoss,
                  "record 2 does not match its checksum");
  }
}

TEST_F(SqliteJournalTest, AMissingRecordIsRefused) {
  Fill(3);
  Edit("DELETE FROM record WHERE idx=2");
  ExpectOneLine(ReadStatus(), absl::StatusCode::kDataLoss,
                "record 2 is missing");
}

TEST_F(SqliteJournalTest, AFileOfAnotherProgramIsRefusedAndLeftAlone) {
  {
    std::ofstream(DatabasePath()) << "This is a text file, long enough to be "
                                     "more than a database header in size. "
                                  << std::string(200, 'x');
  }
  ExpectOneLine(Open().status(), absl::StatusCode::kFailedPrecondition,
                "is not a journal of Skerry");
  std::filesystem::remove(DatabasePath());
  Edit("CREATE TABLE other(x)");
  ExpectOneLine(Open().status(), absl::StatusCode::kFailedPrecondition,
                "is not a journal of Skerry");
  Edit("INSERT INTO other VALUES(1)");
}

TEST_F(SqliteJournalTest, ANewerSchemaIsRefused) {
  Fill(1);
  Edit("UPDATE meta SET value=3 WHERE key='schema_version'");
  ExpectOneLine(Open().status(), absl::StatusCode::kFailedPrecondition,
                "has schema version 3, this release reads 1 to 2");
}

// As the first release left it.
TEST_F(SqliteJournalTest, AnOlderSchemaIsBroughtUpToDate) {
  Fill(3);
  Edit(
      "DROP TABLE snapshot;"
      "UPDATE meta SET value=1 WHERE key='schema_version'");
  {
    auto journal = Open();
    ASSERT_TRUE(journal.ok()) << journal.status();
    EXPECT_EQ((*journal)->term(), 2u);
    EXPECT_EQ(*(*journal)->ReadSnapshot(), std::nullopt);
    EXPECT_EQ(CountOf(**journal), 3u);
    (*journal)->Compact({Revision(3), "three"}, [] {});
    loop_.RunUntilIdle();
  }
  auto journal = Open();
  ASSERT_TRUE(journal.ok()) << journal.status();
  EXPECT_EQ((*(*journal)->ReadSnapshot())->payload, "three");
  EXPECT_EQ(CountOf(**journal), 0u);
}

TEST_F(SqliteJournalTest, AMigrationThatCannotEndChangesNothing) {
  Fill(3);
  // The table that the migration would make is in its way.
  Edit(
      "DROP TABLE snapshot; CREATE TABLE snapshot(other);"
      "UPDATE meta SET value=1 WHERE key='schema_version'");
  EXPECT_FALSE(Open().ok());
  Edit("DROP TABLE snapshot");
  auto journal = Open();
  ASSERT_TRUE(journal.ok()) << journal.status();
  EXPECT_EQ(CountOf(**journal), 3u);
}

TEST_F(SqliteJournalTest, AChangedSnapshotIsRefused) {
  FillAndCompact();
  Edit("UPDATE snapshot SET payload='another'");
  auto journal = Open();
  ASSERT_TRUE(journal.ok()) << journal.status();
  ExpectOneLine((*journal)->ReadSnapshot().status(),
                absl::StatusCode::kDataLoss,
                "snapshot 3 does not match its checksum");
}

TEST_F(SqliteJournalTest, ALostSnapshotIsNoticed) {
  FillAndCompact();
  Edit("DELETE FROM snapshot");
  ExpectOneLine(ReadStatus(), absl::StatusCode::kDataLoss,
                "record 1 is missing");
}

// The write-ahead log of a compaction, cut off anywhere: the disk holds the
// state before it or the state after it, each whole.
TEST_F(SqliteJournalTest, ACompactionThatWasCutOffIsWholeOrNotThere) {
  Fill(40);
  {
    auto journal = Open();
    ASSERT_TRUE(journal.ok()) << journal.status();
    (*journal)->Append({{Revision(41), 1, "last"}}, [] {});
    (*journal)->Compact({Revision(41), std::string(20'000, 's')}, [] {});
    loop_.RunUntilIdle();
    std::filesystem::copy(folder_.path(), folder_.path() + ".crash");
  }
  const std::string crash = folder_.path() + ".crash";
  const std::string image = folder_.path() + ".image";
  const auto size = std::filesystem::file_size(crash + "/journal.db-wal");
  ASSERT_GT(size, 20'000u);
  int before = 0;
  int after = 0;
  for (uintmax_t cut = 0; cut <= size; cut += 1031) {
    SCOPED_TRACE(cut);
    std::filesystem::remove_all(image);
    std::filesystem::copy(crash, image);
    std::filesystem::resize_file(image + "/journal.db-wal",
                                 cut + 1031 > size ? size : cut);
    auto journal =
        SqliteJournal::Open(image, 0, disk_, loop_, [](absl::Status) {});
    ASSERT_TRUE(journal.ok()) << journal.status();
    const auto snapshot = (*journal)->ReadSnapshot();
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    const uint64_t records = CountOf(**journal);
    if (snapshot->has_value()) {
      ++after;
      EXPECT_EQ((*snapshot)->payload, std::string(20'000, 's'));
      EXPECT_EQ(records, 0u);
    } else {
      ++before;
      EXPECT_GE(records, 40u);
      EXPECT_LE(records, 41u);
    }
  }
  EXPECT_GT(before, 5);
  EXPECT_EQ(after, 1);
  std::filesystem::remove_all(crash);
  std::filesystem::remove_all(image);
}

// An operator's backup does not know how often the folder was opened since.
TEST_F(SqliteJournalTest, ACopyThatIsPutBackTakesNoTermAgain) {
  const auto term_at = [&](uint64_t unix_ms) {
    auto journal = SqliteJournal::Open(folder_.path(), unix_ms, disk_, loop_,
                                       [](absl::Status) {});
    return journal.ok() ? (*journal)->term() : 0;
  };
  EXPECT_EQ(term_at(1000), 1000u);
  const std::string backup = folder_.path() + "-backup";
  std::filesystem::copy(folder_.path(), backup);
  EXPECT_EQ(term_at(1000), 1001u);
  EXPECT_EQ(term_at(1020), 1020u);
  // The clock went back.
  EXPECT_EQ(term_at(900), 1021u);
  std::filesystem::remove_all(folder_.path());
  std::filesystem::rename(backup, folder_.path());
  EXPECT_EQ(term_at(1060), 1060u);
}

TEST_F(SqliteJournalTest, TheFileStopsGrowing) {
  auto journal = Open();
  ASSERT_TRUE(journal.ok()) << journal.status();
  uint64_t index = 0;
  // SQLite empties its log once it has a thousand pages.
  uintmax_t early = 0;
  uintmax_t late = 0;
  for (int turn = 0; turn < 60; ++turn) {
    std::vector<JournalEntry> batch;
    for (int i = 0; i < 100; ++i) {
      batch.push_back({Revision(++index), 1, std::string(2000, 'x')});
    }
    (*journal)->Append(std::move(batch), [] {});
    (*journal)->Compact({Revision(index), std::string(10'000, 's')}, [] {});
    loop_.RunUntilIdle();
    const uintmax_t size = std::filesystem::file_size(DatabasePath()) +
                           std::filesystem::file_size(DatabasePath() + "-wal");
    uintmax_t& most = turn < 30 ? early : late;
    most = std::max(most, size);
  }
  EXPECT_LE(late, early + early / 10);
}

TEST_F(SqliteJournalTest, ATruncatedFileIsRefused) {
  Fill(2000);
  const auto size = std::filesystem::file_size(DatabasePath());
  std::filesystem::resize_file(DatabasePath(), size / 2);
  const absl::Status status = ReadStatus();
  ExpectOneLine(status, absl::StatusCode::kDataLoss, "is damaged");
}

TEST_F(SqliteJournalTest, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream(folder_.path() + "/file") << "x";
  const auto journal = SqliteJournal::Open(folder_.path() + "/file/state", 0,
                                           disk_, loop_, [](absl::Status) {});
  EXPECT_THAT(std::string(journal.status().message()),
              HasSubstr(folder_.path() + "/file/state"));
}

}  // namespace
}  // namespace skerry::coordinator
