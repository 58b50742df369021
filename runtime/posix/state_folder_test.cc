#include "runtime/posix/state_folder.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

class StateFolderTest : public testing::Test {
 protected:
  StateFolderTest() { std::filesystem::create_directories(folder_); }
  ~StateFolderTest() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = testing::TempDir() + "/state-folder";
};

TEST_F(StateFolderTest, AnEmptyOrMissingFolderIsAnyones) {
  for (const Daemon user : {Daemon::kCoordinator, Daemon::kWorker}) {
    EXPECT_TRUE(CheckStateFolder(folder_, user).ok());
    EXPECT_TRUE(CheckStateFolder(folder_ + "/none", user).ok());
  }
}

TEST_F(StateFolderTest, ACoordinatorRefusesAWorkersFolder) {
  std::filesystem::create_directory(folder_ + "/jobs");
  EXPECT_TRUE(CheckStateFolder(folder_, Daemon::kWorker).ok());
  EXPECT_EQ(CheckStateFolder(folder_, Daemon::kCoordinator).message(),
            folder_ +
                " is the state folder of a worker; give this coordinator a "
                "folder of its own with --state");
}

TEST_F(StateFolderTest, AWorkerRefusesACoordinatorsFolder) {
  std::ofstream(folder_ + "/journal.db") << "x";
  EXPECT_TRUE(CheckStateFolder(folder_, Daemon::kCoordinator).ok());
  EXPECT_EQ(CheckStateFolder(folder_, Daemon::kWorker).message(),
            folder_ +
                " is the state folder of a coordinator; give this worker a "
                "folder of its own with --state");
}

}  // namespace
}  // namespace skerry::runtime
