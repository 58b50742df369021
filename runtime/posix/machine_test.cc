#include "runtime/posix/machine.h"

#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

TEST(MachineTest, AFolderHasADiskWithRoom) {
  const protocol::MachineFacts facts = LookAt(testing::TempDir());
  // After 2020.
  EXPECT_GT(facts.unix_ms, int64_t{1'577'836'800'000});
  EXPECT_GT(facts.state_bytes, 0u);
  EXPECT_LE(facts.state_free_bytes, facts.state_bytes);
  EXPECT_GT(facts.memory_bytes, uint64_t{16} << 20);
}

TEST(MachineTest, TheHostIsTheSameForEveryFolder) {
  const protocol::MachineFacts facts = LookAt(testing::TempDir());
  EXPECT_FALSE(facts.host.empty());
  EXPECT_EQ(facts.host, LookAt("/nowhere/at/all").host);
}

TEST(MachineTest, OfAFolderThatIsNotThereOnlyTheClockIsKnown) {
  const protocol::MachineFacts facts = LookAt("/nowhere/at/all");
  EXPECT_NE(facts.unix_ms, 0);
  EXPECT_EQ(facts.state_bytes, 0u);
}

}  // namespace
}  // namespace skerry::runtime
