#include "transport/testing/group_conformance.h"

#include <atomic>
#include <cstring>
#include <thread>

#include "base/random.h"

namespace skerry::transport {
namespace {

constexpr absl::Duration kLong = absl::Seconds(60);
constexpr absl::Duration kShort = absl::Milliseconds(30);

// Values whose sum depends on the order of the additions.
std::vector<float> Values(int rank, size_t count) {
  Random random(static_cast<uint64_t>(rank) * 1000003 + count);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>((random.Uniform() - 0.5) *
                               static_cast<double>(1 << random.Below(24)));
  }
  return values;
}

std::vector<float> SumInRankOrder(int size, size_t count) {
  std::vector<float> sum = Values(0, count);
  for (int rank = 1; rank < size; ++rank) {
    const std::vector<float> addend = Values(rank, count);
    for (size_t i = 0; i < count; ++i) sum[i] += addend[i];
  }
  return sum;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  // memcmp may not see the null pointer of an empty vector.
  return a.size() == b.size() &&
         (a.empty() ||
          std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

}  // namespace

TEST_P(GroupConformance, SumIsTakenInRankOrderAndEqualEverywhere) {
  for (const int size : {1, 2, 3, 5}) {
    GroupMembers members = GetParam()(size, kLong);
    RunMembers(members, [&](Group& group) {
      EXPECT_EQ(group.size(), size);
      for (const size_t count : {0, 1, 15, 17, 65535, 65536, 65537, 200001}) {
        std::vector<float> values = Values(group.rank(), count);
        ASSERT_TRUE(group.AllReduceSum(values).ok());
        EXPECT_TRUE(SameBits(values, SumInRankOrder(size, count))) << count;
      }
    });
  }
}

TEST_P(GroupConformance, BroadcastGivesTheRootsValuesToAll) {
  for (const int size : {1, 2, 4}) {
    GroupMembers members = GetParam()(size, kLong);
    RunMembers(members, [&](Group& group) {
      for (const size_t count : {0, 1, 65536, 300000}) {
        for (int root = 0; root < size; ++root) {
          std::vector<float> values = Values(group.rank(), count);
          ASSERT_TRUE(group.Broadcast(values, root).ok());
          EXPECT_TRUE(SameBits(values, Values(root, count)));
        }
      }
    });
  }
}

// What rank `from` has for rank `to`.
std::vector<std::byte> Piece(int from, int to, size_t size) {
  Random random(static_cast<uint64_t>(from * 1009 + to) * 1000003 + size);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(random.Below(256));
  return bytes;
}

void Append(const std::vector<std::byte>& piece, std::vector<std::byte>& to) {
  to.insert(to.end(), piece.begin(), piece.end());
}

TEST_P(GroupConformance, EveryMemberGetsFromAllWhatTheyHaveForIt) {
  for (const int size : {1, 2, 3, 5}) {
    GroupMembers members = GetParam()(size, kLong);
    RunMembers(members, [&](Group& group) {
      for (const size_t count : {0, 1, 26215, 131072, 131073, 300001}) {
        std::vector<std::byte> to, expected;
        for (int rank = 0; rank < size; ++rank) {
          Append(Piece(group.rank(), rank, count), to);
          Append(Piece(rank, group.rank(), count), expected);
        }
        std::vector<std::byte> from(to.size());
        ASSERT_TRUE(group.AllToAll(to, from).ok());
        EXPECT_EQ(from, expected) << count;
      }
    });
  }
}

TEST_P(GroupConformance, EveryMemberGetsThePiecesOfAll) {
  for (const int size : {1, 2, 3, 5}) {
    GroupMembers members = GetParam()(size, kLong);
    RunMembers(members, [&](Group& group) {
      for (const size_t count : {0, 1, 131072, 131073, 300001}) {
        std::vector<std::byte> expected;
        for (int rank = 0; rank < size; ++rank) {
          Append(Piece(rank, rank, count), expected);
        }
        std::vector<std::byte> all(expected.size());
        const std::vector<std::byte> mine =
            Piece(group.rank(), group.rank(), count);
        ASSERT_TRUE(group.AllGather(mine, all).ok());
        EXPECT_EQ(all, expected) << count;
      }
    });
  }
}

TEST_P(GroupConformance, PiecesThatDoNotFitAreAnError) {
  std::vector<std::byte> some(5), other(4);
  EXPECT_TRUE(
      absl::IsInvalidArgument(GetParam()(1, kLong)[0]->AllToAll(some, other)));
  EXPECT_TRUE(
      absl::IsInvalidArgument(GetParam()(2, kLong)[0]->AllToAll(some, some)));
  EXPECT_TRUE(
      absl::IsInvalidArgument(GetParam()(2, kLong)[0]->AllGather(other, some)));
}

TEST_P(GroupConformance, NobodyPassesABarrierBeforeAllHaveCome) {
  GroupMembers members = GetParam()(3, kLong);
  std::atomic<int> arrived{0};
  RunMembers(members, [&](Group& group) {
    for (int turn = 1; turn <= 200; ++turn) {
      ++arrived;
      ASSERT_TRUE(group.Barrier().ok());
      EXPECT_GE(arrived.load(), 3 * turn);
    }
  });
}

TEST_P(GroupConformance, MixedCallsFollowEachOther) {
  GroupMembers members = GetParam()(2, kLong);
  RunMembers(members, [&](Group& group) {
    std::vector<float> values = {1.0f, 2.0f};
    for (int turn = 0; turn < 100; ++turn) {
      values[0] = static_cast<float>(group.rank() + turn);
      ASSERT_TRUE(group.Broadcast(values, turn % 2).ok());
      ASSERT_EQ(values[0], static_cast<float>(turn % 2 + turn));
      ASSERT_TRUE(group.AllReduceSum(values).ok());
      ASSERT_EQ(values[0], 2.0f * static_cast<float>(turn % 2 + turn));
      const std::vector<std::byte> to(8, static_cast<std::byte>(turn));
      std::vector<std::byte> from(8);
      ASSERT_TRUE(group.AllToAll(to, from).ok());
      ASSERT_EQ(from, to);
      std::vector<std::byte> all(16);
      ASSERT_TRUE(group.AllGather(from, all).ok());
      ASSERT_EQ(all, std::vector<std::byte>(16, to[0]));
      ASSERT_TRUE(group.Barrier().ok());
    }
  });
}

TEST_P(GroupConformance, AbortEndsWhatIsUnderWayAndWhatComesLater) {
  GroupMembers members = GetParam()(2, kLong);
  std::thread waiting([&] {
    std::vector<float> values(10);
    EXPECT_TRUE(absl::IsAborted(members[0]->AllReduceSum(values)));
  });
  members[1]->Abort();
  waiting.join();
  EXPECT_TRUE(absl::IsAborted(members[0]->Barrier()));
  EXPECT_TRUE(absl::IsAborted(members[1]->Barrier()));
  members[1]->Abort();
}

TEST_P(GroupConformance, MemberThatStaysAwayCostsOneTimeout) {
  GroupMembers members = GetParam()(3, kShort);
  std::vector<float> values(10);
  EXPECT_TRUE(absl::IsDeadlineExceeded(members[0]->AllReduceSum(values)));
  EXPECT_TRUE(absl::IsAborted(members[0]->Barrier()));
  EXPECT_TRUE(absl::IsAborted(members[1]->Barrier()));
}

TEST_P(GroupConformance, DifferentCallsAreAnErrorForAll) {
  GroupMembers members = GetParam()(2, kLong);
  RunMembers(members, [](Group& group) {
    std::vector<float> values(10 + static_cast<size_t>(group.rank()));
    const absl::Status status = group.AllReduceSum(values);
    EXPECT_TRUE(absl::IsInvalidArgument(status) || absl::IsAborted(status))
        << status;
    EXPECT_TRUE(absl::IsAborted(group.Barrier()));
  });
}

TEST_P(GroupConformance, RootOutOfRangeIsAnError) {
  GroupMembers members = GetParam()(1, kLong);
  std::vector<float> values(1);
  EXPECT_TRUE(absl::IsInvalidArgument(members[0]->Broadcast(values, 1)));
}

}  // namespace skerry::transport
