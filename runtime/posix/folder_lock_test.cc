#include "runtime/posix/folder_lock.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

using ::testing::HasSubstr;

class FolderLockTest : public ::testing::Test {
 protected:
  FolderLockTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  const std::string folder_ = absl::StrCat(
      ::testing::TempDir(), "/",
      ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(FolderLockTest, OneHoldsItAndTheOtherIsToldWho) {
  auto held = FolderLock::Take(folder_, "worker");
  ASSERT_TRUE(held.ok()) << held.status();
  const absl::Status other = FolderLock::Take(folder_, "worker").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(other));
  EXPECT_THAT(
      std::string(other.message()),
      HasSubstr(absl::StrCat(folder_, " is in use by another worker (process ",
                             getpid(), "); stop it or name another")));
  held->reset();
  EXPECT_TRUE(FolderLock::Take(folder_, "worker").ok());
}

TEST_F(FolderLockTest, ReadersShareItAndWriteNothing) {
  EXPECT_EQ(*FolderLock::Share(folder_, "worker"), nullptr);
  ASSERT_TRUE(FolderLock::Take(folder_, "worker").ok());
  const auto first = FolderLock::Share(folder_, "worker");
  const auto second = FolderLock::Share(folder_, "worker");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_FALSE(FolderLock::Take(folder_, "worker").ok());
}

TEST_F(FolderLockTest, ALockWhoseFileWasRemovedIsNotHeld) {
  const auto held = FolderLock::Take(folder_, "worker");
  ASSERT_TRUE(held.ok());
  EXPECT_TRUE((*held)->StillHeld().ok());
  std::filesystem::remove(folder_ + "/lock");
  EXPECT_TRUE(absl::IsAborted((*held)->StillHeld()));
}

TEST_F(FolderLockTest, PermissionsFollowTheUmask) {
  for (const mode_t mask : {0022, 0002, 0077}) {
    std::filesystem::remove(folder_ + "/lock");
    const mode_t before = umask(mask);
    const auto held = FolderLock::Take(folder_, "worker");
    umask(before);
    ASSERT_TRUE(held.ok()) << held.status();
    struct stat info = {};
    ASSERT_EQ(stat((folder_ + "/lock").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0666u & ~mask);
  }
}

TEST_F(FolderLockTest, AFolderThatIsNoneIsNamed) {
  const absl::Status status =
      FolderLock::Take(folder_ + "/none", "worker").status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder_ + "/none/lock"));
}

}  // namespace
}  // namespace skerry::runtime
