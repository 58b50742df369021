#include "coordinator/service/sqlite_journal.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

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
        SqliteJournal::Open(Folder(), disk_, loop, std::move(on_failure));
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
        folder_.path(), disk_, loop_,
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
  Edit("UPDATE meta SET value=2 WHERE key='schema_version'");
  ExpectOneLine(Open().status(), absl::StatusCode::kFailedPrecondition,
                "has schema version 2, this release reads 1");
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
  const auto journal = SqliteJournal::Open(folder_.path() + "/file/state",
                                           disk_, loop_, [](absl::Status) {});
  EXPECT_THAT(std::string(journal.status().message()),
              HasSubstr(folder_.path() + "/file/state"));
}

}  // namespace
}  // namespace skerry::coordinator
