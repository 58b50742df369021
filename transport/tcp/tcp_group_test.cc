#include "transport/tcp/tcp_group.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/tcp/greeting.h"
#include "transport/tcp/sockets.h"
#include "transport/tcp/testing/tcp_members.h"
#include "transport/testing/group_conformance.h"

namespace skerry::transport {
namespace {

using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Tcp, GroupConformance,
                         ::testing::Values(MakeTcpGroup));

constexpr absl::Duration kLong = absl::Seconds(60);

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

TEST(TcpGroupTest, ProcessesGetTheSameSum) {
  constexpr int kSize = 3;
  TcpPlace place = NewTcpPlace();
  std::vector<pid_t> children;
  for (int rank = 0; rank < kSize; ++rank) {
    children.push_back(Fork([&place, rank] {
      auto group = TcpGroup::Open(MemberAt(place, rank, kSize, kLong));
      if (!group.ok()) return false;
      for (int turn = 0; turn < 20; ++turn) {
        std::vector<float> values(1500000, static_cast<float>(rank + turn));
        if (!(*group)->AllReduceSum(values).ok()) return false;
        for (const float value : values) {
          if (value != static_cast<float>(3 + 3 * turn)) return false;
        }
      }
      return true;
    }));
  }
  for (const pid_t child : children) EXPECT_TRUE(EndedWell(child));
}

TEST(TcpGroupTest, AMemberThatIsKilledEndsTheGroupLongBeforeATimeout) {
  TcpPlace place = NewTcpPlace();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = Fork([&] {
    auto group = TcpGroup::Open(MemberAt(place, 1, 3, kLong));
    const bool met = group.ok() && (*group)->Barrier().ok();
    if (write(ready[1], "x", 1) != 1) return false;
    if (!met) return false;
    for (;;) pause();
  });
  GroupMembers members;
  for (const int rank : {0, 2}) {
    members.push_back(
        TcpGroup::Open(MemberAt(place, rank, 3, absl::Hours(1))).value());
  }
  RunMembers(members, [](Group& group) { ASSERT_TRUE(group.Barrier().ok()); });
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  RunMembers(members, [](Group& group) {
    std::vector<float> values(10);
    const absl::Status status = group.AllReduceSum(values);
    EXPECT_TRUE(absl::IsAborted(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("has left the group"));
  });
  close(ready[0]);
  close(ready[1]);
}

TEST(TcpGroupTest, AMemberThatStopsInTheMiddleOfACallIsNamed) {
  GroupMembers members = MakeTcpGroup(3, absl::Milliseconds(300));
  RunMembers(members, [](Group& group) {
    ASSERT_TRUE(group.Barrier().ok());
    if (group.rank() == 2) return;
    std::vector<float> values(10);
    const absl::Status status = group.AllReduceSum(values);
    EXPECT_TRUE(absl::IsDeadlineExceeded(status) || absl::IsAborted(status));
    if (absl::IsDeadlineExceeded(status)) {
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("rank 2 of the group did not go on within 300ms"));
    }
  });
}

TEST(TcpGroupTest, WhoDoesNotComeIsNamed) {
  TcpPlace place = NewTcpPlace();
  auto first = TcpGroup::Open(MemberAt(place, 0, 3, absl::Milliseconds(200)));
  ASSERT_TRUE(first.ok());
  const absl::Status status = (*first)->Barrier();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("did not come within 200ms: 1 2"));
}

TEST(TcpGroupTest, AbortReachesAnotherProcessBeforeAndAfterTheMeeting) {
  for (const bool meets : {false, true}) {
    TcpPlace place = NewTcpPlace();
    const pid_t child = Fork([&] {
      auto group = TcpGroup::Open(MemberAt(place, 0, 2, kLong));
      if (!group.ok()) return false;
      if (meets && !(*group)->Barrier().ok()) return false;
      std::vector<float> values(10);
      return absl::IsAborted((*group)->AllReduceSum(values));
    });
    auto group = TcpGroup::Open(MemberAt(place, 1, 2, kLong));
    ASSERT_TRUE(group.ok());
    if (meets) {
      ASSERT_TRUE((*group)->Barrier().ok());
    }
    (*group)->Abort();
    EXPECT_TRUE(EndedWell(child)) << meets;
  }
}

// A connection to where rank 0 listens.
OwnedFd Connect(const TcpPlace& place) {
  const std::string& endpoint = place.rendezvous.endpoint;
  uint32_t port = 0;
  EXPECT_TRUE(
      absl::SimpleAtoi(endpoint.substr(endpoint.rfind(':') + 1), &port));
  const SocketAddress at =
      Resolve("127.0.0.1", static_cast<uint16_t>(port)).value().front();
  OwnedFd fd(socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(
      connect(fd.get(), reinterpret_cast<const sockaddr*>(&at.bytes), at.size),
      0);
  return fd;
}

template <typename Bytes>
void Say(const OwnedFd& fd, const Bytes& bytes) {
  EXPECT_EQ(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

// Bytes that come until the other end closes.
size_t ReadToEnd(const OwnedFd& fd) {
  size_t all = 0;
  std::byte bytes[256];
  ssize_t n;
  while ((n = recv(fd.get(), bytes, sizeof(bytes), 0)) > 0) {
    all += static_cast<size_t>(n);
  }
  return all;
}

TEST(TcpGroupTest, StrangersAreDroppedAndTheGroupMeetsAmongThem) {
  TcpPlace place = NewTcpPlace();
  const OwnedFd silent = Connect(place);
  const OwnedFd babbler = Connect(place);
  const OwnedFd thief = Connect(place);
  const OwnedFd other = Connect(place);
  auto first = TcpGroup::Open(MemberAt(place, 0, 2, kLong));
  ASSERT_TRUE(first.ok());
  Say(babbler, std::string(48, 'x'));
  EXPECT_EQ(ReadToEnd(babbler), 0u);
  // It knows how members speak, and not the secret.
  const GreetingBytes greeting = EncodeGreeting({1, 0, 2});
  Say(thief, greeting);
  Say(thief, std::string(kProofBytes, 'x'));
  Say(thief, EncodeEndpoint("127.0.0.1:1"));
  EXPECT_EQ(ReadToEnd(thief), kGreetingBytes + kProofBytes);
  // A greeting to another rank, or of a group of another size.
  Say(other, EncodeGreeting({1, 0, 3}));
  EXPECT_EQ(ReadToEnd(other), 0u);
  auto second = TcpGroup::Open(MemberAt(place, 1, 2, kLong));
  ASSERT_TRUE(second.ok());
  GroupMembers members;
  members.push_back(*std::move(first));
  members.push_back(*std::move(second));
  RunMembers(members, [](Group& group) {
    std::vector<float> values(10, 1.0f);
    ASSERT_TRUE(group.AllReduceSum(values).ok());
    EXPECT_EQ(values[9], 2.0f);
  });
  // The listener has gone, and with it who was not trusted.
  EXPECT_EQ(ReadToEnd(silent), 0u);
}

TEST(TcpGroupTest, AMemberOfAnotherGroupIsAStrangerAtBothEnds) {
  TcpPlace place = NewTcpPlace();
  TcpPlace wrong;
  wrong.rendezvous = {place.rendezvous.endpoint, DrawGroupSecret()};
  auto first = TcpGroup::Open(MemberAt(place, 0, 2, kLong));
  auto thief = TcpGroup::Open(MemberAt(wrong, 1, 2, kLong));
  ASSERT_TRUE(first.ok() && thief.ok());
  const absl::Status status = (*thief)->Barrier();
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("is not rank 0 of the group"));
  auto second = TcpGroup::Open(MemberAt(place, 1, 2, kLong));
  std::thread waits([&] { EXPECT_TRUE((*second)->Barrier().ok()); });
  EXPECT_TRUE((*first)->Barrier().ok());
  waits.join();
}

TEST(TcpGroupTest, ManyStrangersDoNotKeepAMemberOut) {
  TcpPlace place = NewTcpPlace();
  auto first = TcpGroup::Open(MemberAt(place, 0, 2, kLong));
  ASSERT_TRUE(first.ok());
  std::vector<OwnedFd> strangers;
  for (int i = 0; i < 400; ++i) strangers.push_back(Connect(place));
  // The oldest is dropped, long before it has been silent for too long.
  pollfd oldest{strangers.front().get(), POLLIN, 0};
  EXPECT_EQ(poll(&oldest, 1, 4000), 1);
  auto second = TcpGroup::Open(MemberAt(place, 1, 2, kLong));
  ASSERT_TRUE(second.ok());
  std::thread waits([&] { EXPECT_TRUE((*second)->Barrier().ok()); });
  EXPECT_TRUE((*first)->Barrier().ok());
  waits.join();
}

TEST(TcpGroupTest, WrongMembersAreRefused) {
  TcpPlace place = NewTcpPlace();
  const auto open = [&](int rank, int size) {
    return TcpGroup::Open(MemberAt(place, rank, size, kLong)).status();
  };
  EXPECT_TRUE(absl::IsInvalidArgument(open(2, 2)));
  EXPECT_TRUE(absl::IsInvalidArgument(open(-1, 2)));
  EXPECT_TRUE(absl::IsInvalidArgument(open(1, 65)));
  EXPECT_TRUE(absl::IsInvalidArgument(open(1, 0)));
  EXPECT_TRUE(absl::IsInvalidArgument(TcpListener::Listen("a b").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(TcpListener::Listen("").status()));
  EXPECT_TRUE(absl::IsUnavailable(
      TcpListener::Listen("no-such-host.invalid").status()));
}

}  // namespace
}  // namespace skerry::transport
