#include "runtime/posix/posix_files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "runtime/testing/files_conformance.h"

namespace skerry::runtime {
namespace {

class PosixFilesDriver {
 public:
  PosixFilesDriver() {
    std::string pattern = testing::TempDir() + "/files-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~PosixFilesDriver() { std::filesystem::remove_all(root_); }
  Files& files() { return files_; }
  std::string root() const { return root_; }

 private:
  std::string root_;
  PosixFiles files_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(PosixFiles, FilesConformance, PosixFilesDriver);

TEST(PosixFilesTest, LeftoversOfInterruptedWritesAreNotListed) {
  PosixFilesDriver driver;
  std::ofstream(driver.root() + "/result.7.tmp") << "half";
  ASSERT_TRUE(
      driver.files().WriteDurably(driver.root() + "/result", ByteSpan()).ok());
  EXPECT_EQ(*driver.files().List(driver.root()),
            std::vector<std::string>{"result"});
}

TEST(PosixFilesTest, LeftoversDoNotKeepADirectory) {
  PosixFilesDriver driver;
  const std::string directory = driver.root() + "/d";
  ASSERT_TRUE(driver.files().MakeDirectory(directory).ok());
  std::ofstream(directory + "/blob.3.tmp") << "half";
  const absl::Status status = driver.files().RemoveDirectory(directory);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(PosixFilesTest, ADirectoryIsNoFileToRead) {
  PosixFilesDriver driver;
  const absl::Status status = driver.files().Read(driver.root()).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(status.message(),
            driver.root() + ": cannot read: Is a directory; name a file");
}

TEST(PosixFilesTest, ARefusedWriteKeepsTheOldFileAndLeavesNothingBehind) {
  PosixFilesDriver driver;
  const std::string path = driver.root() + "/f";
  const std::vector<std::byte> old_bytes(10, std::byte{'o'});
  ASSERT_TRUE(driver.files().WriteDurably(path, old_bytes).ok());

  // A file-size limit fails the write as a full disk does: after some bytes.
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = 4096;
  signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const absl::Status status = driver.files().WriteDurably(
      path, std::vector<std::byte>(100000, std::byte{'n'}));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);

  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_NE(status.message().find(path), absl::string_view::npos);
  EXPECT_EQ(*driver.files().Read(path), old_bytes);
  int entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(driver.root())) {
    EXPECT_EQ(entry.path().filename(), "f");
    ++entries;
  }
  EXPECT_EQ(entries, 1);
}

}  // namespace
}  // namespace skerry::runtime
