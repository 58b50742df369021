#include "worker/daemon/job_disk.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "gtest/gtest.h"
#include "runtime/posix/posix_files.h"
#include "runtime/testing/inline_executor.h"
#include "runtime/testing/manual_loop.h"
#include "worker/daemon/store_file.h"

namespace skerry::worker {
namespace {

// Runs its tasks when the test says so.
class LaterExecutor final : public runtime::Executor {
 public:
  void Run(runtime::Task task) override { tasks_.push_back(std::move(task)); }
  void RunAll() {
    for (runtime::Task& task : std::exchange(tasks_, {})) std::move(task)();
  }

 private:
  std::vector<runtime::Task> tasks_;
};

SharedBytes Content(uint32_t span) {
  return SharedBytes(std::vector<std::byte>(100, std::byte(span)));
}

StoredFile Base(uint64_t sequence, uint32_t begin, uint32_t end) {
  StoredFile file{PieceKey::Kind::kBase, Sequence(sequence), Attempt(), {}};
  for (uint32_t span = begin; span < end; ++span) {
    file.pieces.push_back({span, Hash64(Content(span).bytes())});
  }
  return file;
}

class JobDiskTest : public testing::Test {
 protected:
  ~JobDiskTest() override { std::filesystem::remove_all(root_); }

  void Store(const StoredFile& file) {
    std::vector<SharedBytes> contents;
    for (const StoredFile::Piece& piece : file.pieces) {
      contents.push_back(Content(piece.span));
    }
    bool stored = false;
    disk_.Store(file, std::move(contents),
                [&stored](Instant, absl::Status status) {
                  EXPECT_TRUE(status.ok()) << status;
                  stored = true;
                });
    loop_.RunUntilIdle();
    EXPECT_TRUE(stored);
  }

  void ExpectContent(const StoredFile& file) {
    for (const StoredFile::Piece& piece : file.pieces) {
      const auto content = disk_.Map(file, piece.span);
      ASSERT_TRUE(content.ok()) << content.status();
      EXPECT_EQ(Hash64(content->bytes()), piece.hash);
    }
  }

  std::string pattern_ = testing::TempDir() + "/job-XXXXXX";
  const std::string root_ = mkdtemp(pattern_.data());
  runtime::PosixFiles files_;
  runtime::InlineExecutor executor_;
  runtime::ManualLoop loop_;
  SeatAnswers answers_{loop_, [] {}};
  int gone_ = 0;  // how often the disk told that its folder was
  JobDisk disk_{root_, files_, executor_, answers_, [this] { ++gone_; }};
};

TEST_F(JobDiskTest, WhatIsStoredIsThereUntilItIsDeleted) {
  Store(Base(8, 0, 2));
  ExpectContent(Base(8, 0, 2));
  EXPECT_EQ(*disk_.Scan(), std::vector<StoredFile>{Base(8, 0, 2)});
  disk_.Delete(Base(8, 0, 2));
  EXPECT_TRUE(absl::IsNotFound(disk_.Map(Base(8, 0, 2), 0).status()));
  EXPECT_TRUE(disk_.Scan()->empty());
}

TEST_F(JobDiskTest, WhatWasMappedBeforeAFileIsReplacedIsNotHandedOutAfter) {
  LaterExecutor executor;
  JobDisk disk(root_, files_, executor, answers_, [] {});
  for (const uint32_t value : {1u, 2u}) {
    StoredFile file = Base(8, 0, 1);
    file.pieces[0].hash = Hash64(Content(value).bytes());
    disk.Store(file, {Content(value)}, [](Instant, absl::Status) {});
    (void)disk.Map(file, 0);
    executor.RunAll();
    loop_.RunUntilIdle();
    const auto content = disk.Map(file, 0);
    ASSERT_TRUE(content.ok()) << content.status();
    EXPECT_EQ(Hash64(content->bytes()), file.pieces[0].hash);
  }
}

TEST_F(JobDiskTest, FilesThatBeginAtOneSpanDoNotReplaceEachOther) {
  Store(Base(8, 0, 1));
  Store(Base(8, 0, 3));
  EXPECT_EQ(*disk_.Scan(),
            (std::vector<StoredFile>{Base(8, 0, 1), Base(8, 0, 3)}));
  disk_.Delete(Base(8, 0, 1));
  ExpectContent(Base(8, 0, 3));
  EXPECT_EQ(*disk_.Scan(), std::vector<StoredFile>{Base(8, 0, 3)});
}

TEST_F(JobDiskTest, AFileThatAnOlderReleaseHasNamedIsFound) {
  Store(Base(8, 0, 3));
  std::filesystem::rename(root_ + "/base-8-0-2.skerry",
                          root_ + "/base-8-0.skerry");
  JobDisk disk(root_, files_, executor_, answers_, [] {});
  EXPECT_EQ(*disk.Scan(), std::vector<StoredFile>{Base(8, 0, 3)});
  EXPECT_TRUE(disk.Map(Base(8, 0, 3), 1).ok());
  EXPECT_EQ(*files_.List(root_), std::vector<std::string>{"base-8-0-2.skerry"});
}

TEST_F(JobDiskTest, AFileUnderAnothersNameIsRemoved) {
  Store(Base(8, 0, 3));
  std::filesystem::rename(root_ + "/base-8-0-2.skerry",
                          root_ + "/base-9-0-2.skerry");
  std::ofstream(root_ + "/base-8-0-1.skerry") << "half";
  EXPECT_TRUE(disk_.Scan()->empty());
  EXPECT_TRUE(files_.List(root_)->empty());
}

TEST_F(JobDiskTest, AFolderThatWasRemovedIsMadeAgainAndTold) {
  ASSERT_TRUE(disk_.Scan().ok());
  Store(Base(1, 0, 2));
  EXPECT_EQ(gone_, 0);
  std::filesystem::remove_all(root_);
  Store(Base(2, 0, 2));
  EXPECT_EQ(gone_, 1);
  ExpectContent(Base(2, 0, 2));
  EXPECT_FALSE(disk_.Map(Base(1, 0, 2), 0).ok());
  Store(Base(3, 0, 2));
  EXPECT_EQ(gone_, 1);
}

// A result whose pieces are large enough to be written ahead.
class AheadTest : public JobDiskTest {
 protected:
  AheadTest() {
    for (uint32_t span = 0; span < 3; ++span) {
      contents_.push_back(SharedBytes(
          std::vector<std::byte>((128 << 10) + span, std::byte(span))));
    }
  }

  StoredFile Result(uint64_t attempt) const {
    StoredFile file{PieceKey::Kind::kResult, Sequence(8), Attempt(attempt), {}};
    for (uint32_t span = 0; span < contents_.size(); ++span) {
      file.pieces.push_back({span, Hash64(contents_[span].bytes())});
    }
    return file;
  }
  // The pieces that came first.
  void GiveAhead(uint64_t attempt, size_t pieces) {
    StoredFile file = Result(attempt);
    for (StoredFile::Piece& piece : file.pieces) piece.hash = 0;
    for (size_t i = 0; i < pieces; ++i) {
      disk_.StoreAhead(file, i, contents_[i]);
    }
  }
  void StoreResult(uint64_t attempt) {
    absl::Status stored = absl::UnknownError("no answer");
    disk_.Store(Result(attempt), contents_,
                [&stored](Instant, absl::Status status) { stored = status; });
    loop_.RunUntilIdle();
    EXPECT_TRUE(stored.ok()) << stored;
    ExpectContent(Result(attempt));
  }
  // Also leftovers.
  size_t FilesThere() const {
    return std::distance(std::filesystem::directory_iterator(root_), {});
  }

  std::vector<SharedBytes> contents_;
};

TEST_F(AheadTest, HasTheBytesOfAFileThatIsWrittenAtOnce) {
  StoreResult(1);
  std::vector<std::byte> whole = *files_.Read(root_ + "/result-8-1-0-2.skerry");
  for (const size_t pieces : {1, 2, 3}) {
    disk_.Delete(Result(1));
    GiveAhead(1, pieces);
    EXPECT_EQ(FilesThere(), 1u);
    EXPECT_TRUE(disk_.Scan()->empty());
    StoreResult(1);
    EXPECT_EQ(*files_.Read(root_ + "/result-8-1-0-2.skerry"), whole);
    EXPECT_EQ(FilesThere(), 1u);
  }
}

TEST_F(AheadTest, WhatAnAttemptLeftGoesWithTheNextOne) {
  GiveAhead(1, 2);
  GiveAhead(2, 1);
  EXPECT_EQ(FilesThere(), 1u);
  StoreResult(2);
  EXPECT_EQ(*disk_.Scan(), std::vector<StoredFile>{Result(2)});
  EXPECT_EQ(FilesThere(), 1u);
}

TEST_F(AheadTest, AFileIsStoredAlsoWhenAnotherOneWasBegun) {
  GiveAhead(2, 1);
  StoreResult(1);
  StoreResult(2);
  EXPECT_EQ(*disk_.Scan(), (std::vector<StoredFile>{Result(1), Result(2)}));
}

TEST_F(AheadTest, AFolderThatWasRemovedMeanwhileIsMadeAgainAndTold) {
  GiveAhead(1, 2);
  std::filesystem::remove_all(root_);
  StoreResult(1);
  EXPECT_EQ(gone_, 1);
  EXPECT_EQ(FilesThere(), 1u);
}

TEST_F(JobDiskTest, LogsOfAProgramStayWhereTheyAre) {
  Store(Base(8, 0, 3));
  std::ofstream(root_ + "/rank-0.log") << "Traceback";
  std::ofstream(root_ + "/rank-0.log.1") << "older";
  EXPECT_EQ(*disk_.Scan(), std::vector<StoredFile>{Base(8, 0, 3)});
  EXPECT_EQ(files_.List(root_)->size(), 3u);
}

}  // namespace
}  // namespace skerry::worker
