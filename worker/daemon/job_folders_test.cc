#include "worker/daemon/job_folders.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/posix/posix_files.h"

namespace skerry::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr StoredJobKey kOne{JobId(7), 0xab};

class JobFoldersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    state_ = ::testing::TempDir() + "/" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(state_);
    std::filesystem::create_directories(PathOf(state_, kOne));
    std::ofstream(PathOf(state_, kOne) + "/base") << "12345";
  }

  std::string state_;
  runtime::PosixFiles files_;
};

TEST_F(JobFoldersTest, TheEndIsKnownAfterARestart) {
  std::filesystem::create_directories(state_ + "/jobs/something else");
  EXPECT_THAT(*ListJobFolders(files_, state_),
              ElementsAre(StoredJob{kOne, 5, 0}));
  ASSERT_TRUE(MarkEnded(files_, state_, kOne, 1234).ok());
  EXPECT_THAT(*ListJobFolders(files_, state_),
              ElementsAre(StoredJob{kOne, 5, 1234}));
  ASSERT_TRUE(MarkEnded(files_, state_, kOne, 0).ok());
  EXPECT_THAT(*ListJobFolders(files_, state_),
              ElementsAre(StoredJob{kOne, 5, 0}));
}

TEST_F(JobFoldersTest, ARemovedFolderLeavesNothing) {
  ASSERT_TRUE(MarkEnded(files_, state_, kOne, 1234).ok());
  ASSERT_TRUE(RemoveJobFolder(files_, state_, kOne).ok());
  EXPECT_THAT(*ListJobFolders(files_, state_), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(state_ + "/jobs"));
  // It may have been on its way when the process was killed.
  EXPECT_TRUE(RemoveJobFolder(files_, state_, kOne).ok());
}

TEST_F(JobFoldersTest, AWorkerThatHasNeverServedHasNone) {
  EXPECT_THAT(*ListJobFolders(files_, state_ + "/no such folder"), IsEmpty());
}

}  // namespace
}  // namespace skerry::worker
