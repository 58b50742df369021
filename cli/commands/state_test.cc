#include "cli/commands/state.h"

#include <sqlite3.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "coordinator/service/journal_codec.h"
#include "coordinator/service/journal_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/posix/folder_lock.h"
#include "tests/sim/fault_table.h"

namespace skerry::cli {
namespace {

using coordinator::Entry;
using coordinator::JournalEntry;
using coordinator::JournalFile;
using testing::HasSubstr;
using testing::Not;

const std::vector<Entry>& Journal() {
  static const auto* const journal =
      new std::vector<Entry>(sim::QuietJournal());
  return *journal;
}

class StateTest : public testing::Test {
 protected:
  StateTest() {
    std::string name = testing::TempDir() + "state-XXXXXX";
    root_ = mkdtemp(name.data());
    folder_ = root_ + "/state";
    std::filesystem::create_directory(folder_);
  }
  ~StateTest() override { std::filesystem::remove_all(root_); }

  // The simulated journal, with a snapshot in the place of the first `folded`
  // records. It stays open as after a crash: its newest part is in the log.
  void Fill(uint64_t folded) {
    std::vector<JournalEntry> head;
    std::vector<JournalEntry> tail;
    coordinator::Cluster cluster{coordinator::ClusterOptions()};
    for (const Entry& entry : Journal()) {
      const bool before = entry.index.value() <= folded;
      if (before) {
        ASSERT_TRUE(cluster.Apply(entry).ok());
      }
      (before ? head : tail).push_back(coordinator::EntryToJournal(entry));
    }
    auto file =
        JournalFile::Open(folder_ + "/journal.db", JournalFile::Use::kServe);
    ASSERT_TRUE(file.ok()) << file.status();
    file_ = *std::move(file);
    ASSERT_TRUE(file_->Append(head).ok());
    if (folded > 0) {
      ASSERT_TRUE(
          file_->Compact(coordinator::SnapshotToJournal(cluster.Save(), {}))
              .ok());
    }
    ASSERT_TRUE(file_->Append(tail).ok());
  }
  void Edit(const std::string& sql) {
    file_.reset();
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open((folder_ + "/journal.db").c_str(), &handle),
              SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(handle);
  }
  // Names, sizes and contents of all files in the folder.
  std::string Everything() const {
    std::string all;
    std::vector<std::filesystem::path> paths;
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      paths.push_back(file.path());
    }
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) {
      std::ifstream in(path, std::ios::binary);
      absl::StrAppend(&all, path.string(), "\n",
                      std::string(std::istreambuf_iterator<char>(in), {}));
    }
    return all;
  }
  std::string Hash() const {
    return absl::StrCat(
        absl::Hex(sim::Replayed(Journal())->StateHash(), absl::kZeroPad16));
  }
  absl::Status Run(absl::Status (*command)(const StateArguments&,
                                           const Output&)) {
    out_.str("");
    return command(arguments_(), Output{form_, out_, err_});
  }
  StateArguments arguments_() const {
    return {folder_, records_, root_ + "/backup"};
  }

  std::string root_;
  std::string folder_;
  std::unique_ptr<JournalFile> file_;
  OutputForm form_ = OutputForm::kTable;
  bool records_ = false;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(StateTest, VerifyPrintsTheStateHashAndChangesNothing) {
  const uint64_t all = Journal().size();
  for (const uint64_t folded : {uint64_t{0}, all / 2, all}) {
    SCOPED_TRACE(folded);
    file_.reset();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    Fill(folded);
    const std::string before = Everything();
    const absl::Status verified = Run(VerifyState);
    EXPECT_TRUE(verified.ok()) << verified;
    EXPECT_THAT(out_.str(), HasSubstr(Hash()));
    EXPECT_THAT(out_.str(), HasSubstr(absl::StrCat(all - folded, " records")));
    EXPECT_TRUE(Everything() == before);
  }
}

TEST_F(StateTest, VerifyAsJson) {
  Fill(3);
  const uint64_t term = file_->term();
  form_ = OutputForm::kJson;
  ASSERT_TRUE(Run(VerifyState).ok());
  const auto object = nlohmann::json::parse(out_.str());
  EXPECT_EQ(object.at("state_hash"), Hash());
  EXPECT_EQ(object.at("snapshot_index"), "3");
  EXPECT_EQ(object.at("schema_version"), 2);
  EXPECT_EQ(object.at("term"), absl::StrCat(term));
}

TEST_F(StateTest, VerifyNamesTheRecordThatIsDamaged) {
  Fill(0);
  Edit("UPDATE record SET payload=zeroblob(3) WHERE idx=7");
  const absl::Status status = Run(VerifyState);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.ToString(), HasSubstr("record 7 does not match"));
  EXPECT_THAT(status.ToString(), HasSubstr(folder_));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(StateTest, ARecordThatIsMissingIsNamed) {
  Fill(2);
  Edit("DELETE FROM record WHERE idx=3");
  EXPECT_THAT(Run(VerifyState).ToString(), HasSubstr("record 3 is missing"));
}

TEST_F(StateTest, ANewerFileIsRefused) {
  Fill(0);
  Edit("UPDATE meta SET value=9 WHERE key='schema_version'");
  const absl::Status status = Run(VerifyState);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.ToString(), HasSubstr("schema version 9"));
  EXPECT_THAT(status.ToString(), Not(HasSubstr("\n")));
}

TEST_F(StateTest, AnOlderFileIsReadAsItIs) {
  Fill(0);
  Edit(
      "DROP TABLE snapshot;"
      "UPDATE meta SET value=1 WHERE key='schema_version'");
  const std::string before = Everything();
  ASSERT_TRUE(Run(VerifyState).ok());
  EXPECT_THAT(out_.str(), HasSubstr(Hash()));
  EXPECT_THAT(out_.str(), HasSubstr("schema      1"));
  EXPECT_TRUE(Everything() == before);
}

TEST_F(StateTest, AFolderThatIsServedFromIsRefused) {
  Fill(0);
  const auto lock = runtime::FolderLock::Take(folder_, "coordinator");
  ASSERT_TRUE(lock.ok());
  for (const auto command : {ExportState, VerifyState, BackUpState}) {
    const absl::Status status = Run(command);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.ToString(), HasSubstr("stop it first"));
  }
}

TEST_F(StateTest, AFolderWithoutAJournalIsNotFound) {
  EXPECT_EQ(Run(VerifyState).code(), absl::StatusCode::kNotFound);
  folder_ = root_ + "/nowhere";
  EXPECT_EQ(Run(ExportState).code(), absl::StatusCode::kNotFound);
}

TEST_F(StateTest, ExportPrintsTheStateAsOneObject) {
  Fill(4);
  ASSERT_TRUE(Run(ExportState).ok());
  const auto object = nlohmann::json::parse(out_.str());
  EXPECT_EQ(object.at("revision"), absl::StrCat(Journal().size()));
  EXPECT_EQ(object.at("jobs").at(0).at("submitted").at("spec").at("name"),
            "job-0");
}

TEST_F(StateTest, ExportPrintsSnapshotAndRecordsALineEach) {
  Fill(4);
  records_ = true;
  ASSERT_TRUE(Run(ExportState).ok());
  const std::vector<std::string> lines =
      absl::StrSplit(out_.str(), '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), Journal().size() - 4 + 1);
  EXPECT_EQ(nlohmann::json::parse(lines[0]).at("snapshot").at("revision"), "4");
  for (size_t i = 1; i < lines.size(); ++i) {
    const auto line = nlohmann::json::parse(lines[i]);
    EXPECT_EQ(line.at("index"), absl::StrCat(4 + i));
    EXPECT_EQ(line.at("record").size(), 1u);
  }
}

TEST_F(StateTest, ABackupIsTheSameStateInOneFile) {
  Fill(4);
  const uint64_t term = file_->term();
  const std::string before = Everything();
  const absl::Status made = Run(BackUpState);
  ASSERT_TRUE(made.ok()) << made;
  EXPECT_THAT(out_.str(), HasSubstr(Hash()));
  EXPECT_TRUE(Everything() == before);
  EXPECT_EQ(Run(BackUpState).code(), absl::StatusCode::kAlreadyExists);
  folder_ = root_ + "/backup";
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/journal.db-wal"));
  auto file =
      JournalFile::Open(folder_ + "/journal.db", JournalFile::Use::kServe);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_GT((*file)->term(), term);
}

}  // namespace
}  // namespace skerry::cli
