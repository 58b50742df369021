#include "transport/shm/shm_group.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "gtest/gtest.h"
#include "transport/shm/testing/shm_members.h"
#include "transport/testing/group_conformance.h"

namespace skerry::transport {
namespace {

INSTANTIATE_TEST_SUITE_P(Shm, GroupConformance,
                         ::testing::Values(MakeShmGroup));

bool NameExists(const std::string& name) {
  const int fd = shm_open(name.c_str(), O_RDONLY, 0);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

// Runs `body` in a child process, which ends with status 0 when it is true.
pid_t Fork(std::function<bool()> body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  return child;
}

bool EndedWell(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

TEST(ShmGroupTest, ProcessesGetTheSameSum) {
  constexpr int kSize = 3;
  const std::string name = NewShmName();
  std::vector<pid_t> children;
  for (int rank = 0; rank < kSize; ++rank) {
    children.push_back(Fork([&name, rank] {
      auto group = ShmGroup::Open({name, rank, kSize, absl::Seconds(60)});
      if (!group.ok()) return false;
      for (int turn = 0; turn < 20; ++turn) {
        std::vector<float> values(150000, static_cast<float>(rank + turn));
        if (!(*group)->AllReduceSum(values).ok()) return false;
        for (const float value : values) {
          if (value != static_cast<float>(3 + 3 * turn)) return false;
        }
      }
      return true;
    }));
  }
  for (const pid_t child : children) EXPECT_TRUE(EndedWell(child));
  EXPECT_FALSE(NameExists(name));
}

TEST(ShmGroupTest, KilledProcessHoldsTheOthersUpForOneTimeout) {
  const std::string name = NewShmName();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = Fork([&] {
    auto group = ShmGroup::Open({name, 1, 2, absl::Seconds(60)});
    const bool met = group.ok() && (*group)->Barrier().ok();
    if (write(ready[1], "x", 1) != 1) return false;
    if (!met) return false;
    for (;;) pause();
  });
  auto group = ShmGroup::Open({name, 0, 2, absl::Milliseconds(300)});
  ASSERT_TRUE(group.ok());
  ASSERT_TRUE((*group)->Barrier().ok());
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  std::vector<float> values(10);
  EXPECT_TRUE(absl::IsDeadlineExceeded((*group)->AllReduceSum(values)));
  close(ready[0]);
  close(ready[1]);
}

TEST(ShmGroupTest, AbortReachesAnotherProcess) {
  const std::string name = NewShmName();
  const pid_t child = Fork([&] {
    auto group = ShmGroup::Open({name, 1, 2, absl::Seconds(60)});
    if (!group.ok()) return false;
    // The abort may come before this process has left its first barrier.
    const absl::Status first = (*group)->Barrier();
    return absl::IsAborted(first) ||
           (first.ok() && absl::IsAborted((*group)->Barrier()));
  });
  auto group = ShmGroup::Open({name, 0, 2, absl::Seconds(60)});
  ASSERT_TRUE(group.ok());
  ASSERT_TRUE((*group)->Barrier().ok());
  (*group)->Abort();
  EXPECT_TRUE(EndedWell(child));
}

TEST(ShmGroupTest, NameIsGoneOnceAllHaveMet) {
  const std::string name = NewShmName();
  GroupMembers members;
  for (int rank = 0; rank < 2; ++rank) {
    members.push_back(
        ShmGroup::Open({name, rank, 2, absl::Seconds(60)}).value());
  }
  EXPECT_TRUE(NameExists(name));
  RunMembers(members, [](Group& group) { ASSERT_TRUE(group.Barrier().ok()); });
  EXPECT_FALSE(NameExists(name));
}

TEST(ShmGroupTest, GroupThatNeverMetLeavesNoName) {
  const std::string name = NewShmName();
  ShmGroup::Open({name, 0, 2, absl::Seconds(60)}).value().reset();
  EXPECT_FALSE(NameExists(name));
}

TEST(ShmGroupTest, WrongMembersAreRefused) {
  const std::string name = NewShmName();
  const auto first = ShmGroup::Open({name, 0, 2, absl::Seconds(60)});
  ASSERT_TRUE(first.ok());
  const auto open = [&](int rank, int size) {
    return ShmGroup::Open({name, rank, size, absl::Seconds(60)}).status();
  };
  EXPECT_TRUE(absl::IsAlreadyExists(open(0, 2)));
  EXPECT_TRUE(absl::IsInvalidArgument(open(1, 3)));
  EXPECT_TRUE(absl::IsInvalidArgument(open(2, 2)));
  EXPECT_TRUE(absl::IsInvalidArgument(open(0, 65)));
  EXPECT_TRUE(NameExists(name)) << "a refused member must not remove it";
  for (const char* bad : {"", "/", "x", "/a/b"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        ShmGroup::Open({bad, 0, 1, absl::Seconds(1)}).status()));
  }
}

}  // namespace
}  // namespace skerry::transport
