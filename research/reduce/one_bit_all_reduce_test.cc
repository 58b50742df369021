#include "research/reduce/one_bit_all_reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "compression/testing/backward_executor.h"
#include "gtest/gtest.h"
#include "transport/memory/memory_group.h"
#include "transport/shm/testing/shm_members.h"
#include "transport/testing/group_runner.h"

namespace skerry::compression {
namespace {

using transport::Group;
using transport::GroupMembers;

using Change = std::function<void(std::span<std::byte> from, size_t piece)>;

// What goes out of a member, and what happens to it on the way.
class Watched final : public Collective {
 public:
  explicit Watched(Group& group) : group_(group) {}

  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  absl::Status AllReduceSum(std::span<float> values) override {
    calls += 'v';
    // What rank 2 of three has against a result.
    if (add_to_vote != 0.0f) values[3 * 3 + 2] += add_to_vote;
    const absl::Status status = group_.AllReduceSum(values);
    if (lose_votes) std::fill(values.begin(), values.end(), 0.0f);
    return status;
  }
  absl::Status Broadcast(std::span<float> values, int root) override {
    calls += 'b';
    return group_.Broadcast(values, root);
  }
  absl::Status AllToAll(std::span<const std::byte> to,
                        std::span<std::byte> from) override {
    calls += 'a';
    const size_t piece = to.size() / static_cast<size_t>(size());
    bytes_sent += to.size() - piece;
    const absl::Status status = group_.AllToAll(to, from);
    if (change_payloads) change_payloads(from, piece);
    return status;
  }
  absl::Status AllGather(std::span<const std::byte> piece,
                         std::span<std::byte> all) override {
    calls += 'g';
    bytes_sent += piece.size() * static_cast<size_t>(size() - 1);
    const absl::Status status = group_.AllGather(piece, all);
    if (change_results) change_results(all, piece.size());
    return status;
  }

  size_t bytes_sent = 0;
  std::string calls;
  Change change_payloads;
  Change change_results;
  float add_to_vote = 0.0f;
  bool lose_votes = false;

 private:
  Group& group_;
};

GroupMembers MembersOver(bool shared_memory, int size) {
  return shared_memory ? transport::MakeShmGroup(size, absl::Minutes(1))
                       : transport::MakeMemoryGroup(size, absl::Minutes(1));
}

class OneBitAllReduceTest : public ::testing::TestWithParam<bool> {
 protected:
  void OnEachOf(int size, const std::function<void(Watched&)>& body) {
    auto members = MembersOver(GetParam(), size);
    transport::RunMembers(members, [&](Group& group) {
      Watched watched(group);
      body(watched);
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Memory, OneBitAllReduceTest, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Shm, OneBitAllReduceTest, ::testing::Values(true));

std::vector<float> Draw(uint64_t seed, int rank, size_t elements) {
  Random random(seed * 1000 + static_cast<uint64_t>(rank));
  std::vector<float> values(elements);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.4);
  }
  return values;
}

// The same steps by hand, without anything that moves bytes.
class ByHand {
 public:
  ByHand(size_t elements, int size, CodecId codec) : elements_(elements) {
    for (int rank = 0; rank < size; ++rank) {
      members_.emplace_back(elements, size, rank, codec);
    }
  }

  std::vector<float> Step(uint64_t seed) {
    const size_t size = members_.size();
    std::vector<std::vector<OneBitMean::Payload>> sent(size);
    for (size_t rank = 0; rank < size; ++rank) {
      const auto x = Draw(seed, static_cast<int>(rank), elements_);
      EXPECT_TRUE(members_[rank].Send(x, sent[rank]).ok());
    }
    std::vector<OneBitMean::Payload> results(size);
    for (size_t owner = 0; owner < size; ++owner) {
      std::vector<OneBitMean::Payload> mine;
      for (const auto& payloads : sent) mine.push_back(payloads[owner]);
      EXPECT_TRUE(members_[owner].Reduce(mine, results[owner]).ok());
    }
    std::vector<float> out(elements_);
    for (OneBitMean& member : members_) {
      EXPECT_TRUE(member.Receive(results, out).ok());
      member.Keep();
    }
    return out;
  }

 private:
  const size_t elements_;
  std::vector<OneBitMean> members_;
};

TEST_P(OneBitAllReduceTest, EveryMemberEndsWithWhatTheStepsByHandGive) {
  for (const CodecId codec :
       {CodecId::kSign1, CodecId::kSign1Whole, CodecId::kNf4}) {
    for (const int size : {1, 2, 3, 5}) {
      for (const size_t elements : {1, 257, 5000}) {
        ByHand oracle(elements, size, codec);
        std::vector<std::vector<float>> expected;
        for (uint64_t seed = 1; seed <= 4; ++seed) {
          expected.push_back(oracle.Step(seed));
        }
        OnEachOf(size, [&](Watched& group) {
          auto reduce = OneBitAllReduce::Create(elements, codec, group).value();
          for (uint64_t seed = 1; seed <= 4; ++seed) {
            std::vector<float> values = Draw(seed, group.rank(), elements);
            ASSERT_TRUE(reduce->Mean(values).ok());
            EXPECT_EQ(values, expected[seed - 1]) << size << " " << elements;
          }
        });
      }
    }
  }
}

// 2 (W - 1) / W of the encoded values, and a length each.
TEST_P(OneBitAllReduceTest, BytesSentAreThoseOfTheFormula) {
  OnEachOf(4, [](Watched& group) {
    auto reduce =
        OneBitAllReduce::Create(4 * 1024, CodecId::kSign1, group).value();
    std::vector<float> values = Draw(1, group.rank(), 4 * 1024);
    ASSERT_TRUE(reduce->Mean(values).ok());
    EXPECT_EQ(group.bytes_sent, 2u * 3u * (4u + 4u * 4u + 128u));
  });
}

std::vector<float> ErrorsOf(const OneBitAllReduce& reduce) {
  std::vector<float> all(reduce.member_error().begin(),
                         reduce.member_error().end());
  all.insert(all.end(), reduce.owner_error().begin(),
             reduce.owner_error().end());
  return all;
}

Change WithBadScaleOf(size_t rank) {
  return [=](std::span<std::byte> from, size_t piece) {
    std::fill_n(&from[rank * piece + 4], 4, std::byte{0xff});
  };
}

// A step of three members in which something is wrong.
struct Trouble {
  std::string name;
  // These are added to a value and to the vote of rank 1.
  float value = 0.0f;
  float add_to_vote = 0.0f;
  // These change the payloads and the results that rank 2 receives.
  Change payloads;
  Change results;
  std::string expected;
};

std::vector<Trouble> Troubles() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto length_of = [](size_t rank, uint32_t length) {
    return [=](std::span<std::byte> from, size_t piece) {
      std::memcpy(&from[rank * piece], &length, sizeof(length));
    };
  };
  const auto both = [](Change first, Change second) {
    return [=](std::span<std::byte> from, size_t piece) {
      first(from, piece);
      second(from, piece);
    };
  };
  const std::string infinite = "the values of rank 1 are not finite";
  const std::string payload = "rank 2 was given what is no encoding";
  const std::string result = "rank 2 was given a result that is no encoding";
  constexpr uint32_t kRefused = 0xffffffff;
  const Change none;
  return {
      {"a value is infinite", kInfinity, 0, none, none, infinite},
      {"a length is wrong before one that refuses", kInfinity, 0,
       length_of(0, 0x7fffffff), none, infinite},
      {"a result comes that was refused", kInfinity, 0, none,
       both(length_of(0, 8), both(length_of(1, 8), length_of(2, 8))), infinite},
      {"a member refuses to one alone", 0, 0, length_of(1, kRefused), none,
       payload},
      {"a payload is cut", 0, 0, length_of(0, 7), none, payload},
      {"a payload has a bad scale", 0, 0, WithBadScaleOf(1), none, payload},
      {"an owner refuses to one alone", 0, 0, none, length_of(0, kRefused),
       result},
      {"a result is too long for one", 0, 0, none, length_of(1, 1u << 20),
       result},
      {"a result has a bad scale for one", 0, 0, none, WithBadScaleOf(0),
       result},
      {"a vote is to undo another", 0, -1, none, WithBadScaleOf(0), result},
      {"an infinite one is", 0, -kInfinity, none, WithBadScaleOf(0), result},
  };
}

// Members that ended differently, or made different calls, would wait for each
// other or train apart.
TEST_P(OneBitAllReduceTest, StepThatOneCannotTakeIsRefusedByAllWithoutATrace) {
  // Parts are equal, so a payload of another part or phase would fit as well.
  constexpr size_t kElements = 3 * 768;
  ByHand oracle(kElements, 3, CodecId::kSign1);
  std::vector<std::vector<float>> expected;
  for (const uint64_t seed : {1, 3}) expected.push_back(oracle.Step(seed));
  for (const Trouble& trouble : Troubles()) {
    SCOPED_TRACE(trouble.name);
    OnEachOf(3, [&](Watched& group) {
      auto reduce =
          OneBitAllReduce::Create(kElements, CodecId::kSign1, group).value();
      std::vector<float> values = Draw(1, group.rank(), kElements);
      ASSERT_TRUE(reduce->Mean(values).ok());
      EXPECT_EQ(values, expected[0]);
      const std::vector<float> before = ErrorsOf(*reduce);

      values = Draw(2, group.rank(), kElements);
      if (group.rank() == 1) values[7] += trouble.value;
      if (group.rank() == 1) group.add_to_vote = trouble.add_to_vote;
      if (group.rank() == 2) group.change_payloads = trouble.payloads;
      if (group.rank() == 2) group.change_results = trouble.results;
      const absl::Status refused = reduce->Mean(values);
      EXPECT_EQ(refused.message(), trouble.expected) << trouble.name;
      EXPECT_EQ(ErrorsOf(*reduce), before) << trouble.name;

      group.add_to_vote = 0.0f;
      group.change_payloads = group.change_results = Change();
      values = Draw(3, group.rank(), kElements);
      ASSERT_TRUE(reduce->Mean(values).ok()) << trouble.name;
      EXPECT_EQ(values, expected[1]) << trouble.name;
      EXPECT_EQ(group.calls, "agvagvagv") << trouble.name;
    });
  }
}

TEST_P(OneBitAllReduceTest, MemberRefusesWhatItCannotKeepThoughItsVoteIsLost) {
  constexpr size_t kElements = 3 * 768;
  OnEachOf(3, [&](Watched& group) {
    auto reduce =
        OneBitAllReduce::Create(kElements, CodecId::kSign1, group).value();
    std::vector<float> values = Draw(1, group.rank(), kElements);
    ASSERT_TRUE(reduce->Mean(values).ok());
    const std::vector<float> before = ErrorsOf(*reduce);

    values = Draw(2, group.rank(), kElements);
    group.lose_votes = true;
    if (group.rank() == 2) group.change_results = WithBadScaleOf(0);
    const absl::Status status = reduce->Mean(values);
    EXPECT_EQ(status.message(),
              group.rank() == 2
                  ? "rank 2 was given a result that is no encoding"
                  : "");
    EXPECT_EQ(ErrorsOf(*reduce) == before, group.rank() == 2);
  });
}

TEST_P(OneBitAllReduceTest, MeanThatOverflowsIsRefusedByAll) {
  OnEachOf(2, [](Watched& group) {
    auto reduce = OneBitAllReduce::Create(100, CodecId::kRawF32, group).value();
    std::vector<float> values(100, 3e38f);
    EXPECT_EQ(
        reduce->Mean(values),
        absl::InvalidArgumentError("the mean that rank 1 owns is not finite"));
    EXPECT_EQ(group.calls, "agv");
  });
}

// Nothing is allocated before it is known.
TEST(OneBitAllReduceLimitsTest, PartsOf4GiBAndSparseCodecsAreRefused) {
  const auto group = transport::MakeMemoryGroup(1, absl::Minutes(1));
  const auto create = [&](size_t elements, CodecId codec) {
    return OneBitAllReduce::Create(elements, codec, *group[0]).status();
  };
  EXPECT_EQ(create(size_t{1} << 30, CodecId::kRawF32).message(),
            "raw_f32 makes 4294967296 bytes of what one of 1 members owns of "
            "1073741824 values, and a mean in two phases moves less than 4 GiB "
            "at a time");
  EXPECT_TRUE(
      absl::IsInvalidArgument(create(size_t{1} << 40, CodecId::kSign1)));
  EXPECT_TRUE(absl::IsInvalidArgument(create(100, CodecId::kTopKIn4)));
  EXPECT_TRUE(absl::IsUnimplemented(create(100, CodecId::kTopK)));
}

TEST_P(OneBitAllReduceTest, BitsDoNotDependOnTheExecutor) {
  constexpr size_t kElements = 300001;
  ByHand oracle(kElements, 2, CodecId::kSign1);
  const std::vector<float> expected = oracle.Step(1);
  OnEachOf(2, [&](Watched& group) {
    BackwardExecutor backward(4);
    auto reduce =
        OneBitAllReduce::Create(kElements, CodecId::kSign1, group, backward)
            .value();
    std::vector<float> values = Draw(1, group.rank(), kElements);
    ASSERT_TRUE(reduce->Mean(values).ok());
    EXPECT_EQ(values, expected);
  });
}

// A group's own errors come back, and nobody waits for ever.
TEST_P(OneBitAllReduceTest, ErrorsOfTheGroupComeBack) {
  auto members = MembersOver(GetParam(), 2);
  members[1]->Abort();
  auto reduce =
      OneBitAllReduce::Create(100, CodecId::kSign1, *members[0]).value();
  std::vector<float> values(100, 1.0f);
  EXPECT_TRUE(absl::IsAborted(reduce->Mean(values)));
}

// What is constant comes out exactly on average; without errors it never does.
TEST_P(OneBitAllReduceTest, ForgettingTheErrorsIsClearlyWorse) {
  constexpr size_t kElements = 512;
  constexpr int kSteps = 400;
  const auto worst_after = [this](bool keep) {
    double worst = 0.0;
    OnEachOf(2, [&](Watched& group) {
      auto reduce =
          OneBitAllReduce::Create(kElements, CodecId::kSign1, group).value();
      std::vector<double> sum(kElements);
      for (int step = 0; step < kSteps; ++step) {
        std::vector<float> values = Draw(1, group.rank(), kElements);
        ASSERT_TRUE(reduce->Mean(values).ok());
        for (size_t i = 0; i < kElements; ++i) sum[i] += values[i];
        if (!keep) reduce->Reset();
      }
      if (group.rank() != 0) return;
      const std::vector<float> a = Draw(1, 0, kElements);
      const std::vector<float> b = Draw(1, 1, kElements);
      for (size_t i = 0; i < kElements; ++i) {
        const double mean = (double{a[i]} + double{b[i]}) / 2;
        worst = std::max(worst, std::fabs(sum[i] / kSteps - mean));
      }
    });
    return worst;
  };
  EXPECT_LT(worst_after(true), 0.02);
  EXPECT_GT(worst_after(false), 0.2);
}

}  // namespace
}  // namespace skerry::compression
