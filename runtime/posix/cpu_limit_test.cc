#include "runtime/posix/cpu_limit.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace skerry::runtime {
namespace {

class CpuLimitTest : public testing::Test {
 protected:
  CpuLimitTest() {
    std::string pattern = testing::TempDir() + "/cpus-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~CpuLimitTest() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  std::string root_;
};

TEST_F(CpuLimitTest, AQuotaOfAnyGroupAboveIsRoundedDownAndAtLeastOne) {
  Write("/proc/self/cgroup", "0::/a/b\n");
  EXPECT_EQ(CpuQuota(root_), std::nullopt);
  Write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(CpuQuota(root_), std::nullopt);
  Write("/sys/fs/cgroup/a/cpu.max", "350000 100000\n");
  EXPECT_EQ(CpuQuota(root_), 3);
  Write("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(CpuQuota(root_), 1);
  Write("/sys/fs/cgroup/a/b/cpu.max", "nonsense\n");
  EXPECT_EQ(CpuQuota(root_), 3);
}

TEST_F(CpuLimitTest, AContainerSeesItsQuotaAtTheRoot) {
  Write("/proc/self/cgroup", "0::/\n");
  Write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(CpuQuota(root_), 1);
  // Its name outside says nothing here.
  Write("/proc/self/cgroup", "0::/docker/f00\n");
  EXPECT_EQ(CpuQuota(root_), 1);
}

TEST_F(CpuLimitTest, GroupsOfTheFirstVersionCountToo) {
  Write("/proc/self/cgroup",
        "7:memory:/x\n4:cpu,cpuacct:/x\n1:name=systemd:/x\n0::/x\n");
  Write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
  Write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CpuQuota(root_), std::nullopt);
  Write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(CpuQuota(root_), 2);
}

TEST_F(CpuLimitTest, ThisProcessMayUseAtLeastOne) {
  EXPECT_GE(UsableCpus(), 1);
}

}  // namespace
}  // namespace skerry::runtime
