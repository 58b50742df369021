#include "compression/reduce/one_bit_all_reduce.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "transport/memory/memory_group.h"
#include "transport/testing/group_runner.h"

namespace skerry::compression {
namespace {

using transport::Group;

// What goes out of a member, and a bit that turns on the way.
class Watched final : public Collective {
 public:
  explicit Watched(Group& group) : group_(group) {}

  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  absl::Status AllReduceSum(std::span<float> values) override {
    return group_.AllReduceSum(values);
  }
  absl::Status Broadcast(std::span<float> values, int root) override {
    return group_.Broadcast(values, root);
  }
  absl::Status AllToAll(std::span<const std::byte> to,
                        std::span<std::byte> from) override {
    const size_t piece = to.size() / static_cast<size_t>(size());
    bytes_sent += to.size() - piece;
    const absl::Status status = group_.AllToAll(to, from);
    if (shorten) from[0] ^= std::byte{1};
    return status;
  }
  absl::Status AllGather(std::span<const std::byte> piece,
                         std::span<std::byte> all) override {
    bytes_sent += piece.size() * static_cast<size_t>(size() - 1);
    return group_.AllGather(piece, all);
  }

  size_t bytes_sent = 0;
  bool shorten = false;

 private:
  Group& group_;
};

std::vector<float> Draw(uint64_t seed, int rank, size_t elements) {
  Random random(seed * 1000 + static_cast<uint64_t>(rank));
  std::vector<float> values(elements);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.4);
  }
  return values;
}

void OnEachOf(int size, const std::function<void(Watched&)>& body) {
  auto members = transport::MakeMemoryGroup(size, absl::Minutes(1));
  transport::RunMembers(members, [&](Group& group) {
    Watched watched(group);
    body(watched);
  });
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
    }
    return out;
  }

 private:
  const size_t elements_;
  std::vector<OneBitMean> members_;
};

TEST(OneBitAllReduceTest, EveryMemberEndsWithWhatTheStepsByHandGive) {
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
          OneBitAllReduce reduce(elements, codec, group);
          for (uint64_t seed = 1; seed <= 4; ++seed) {
            std::vector<float> values = Draw(seed, group.rank(), elements);
            ASSERT_TRUE(reduce.Mean(values).ok());
            EXPECT_EQ(values, expected[seed - 1]) << size << " " << elements;
          }
        });
      }
    }
  }
}

// 2 (W - 1) / W of the encoded values, and a length each.
TEST(OneBitAllReduceTest, BytesSentAreThoseOfTheFormula) {
  OnEachOf(4, [](Watched& group) {
    OneBitAllReduce reduce(4 * 1024, CodecId::kSign1, group);
    std::vector<float> values = Draw(1, group.rank(), 4 * 1024);
    ASSERT_TRUE(reduce.Mean(values).ok());
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

TEST(OneBitAllReduceTest, RefusedStepIsRefusedEverywhereAndLeavesNoTrace) {
  constexpr size_t kElements = 2000;
  OnEachOf(3, [](Watched& group) {
    OneBitAllReduce reduce(kElements, CodecId::kSign1, group);
    std::vector<float> values = Draw(1, group.rank(), kElements);
    ASSERT_TRUE(reduce.Mean(values).ok());
    const std::vector<float> before = ErrorsOf(reduce);

    values = Draw(2, group.rank(), kElements);
    if (group.rank() == 1) {
      values[7] = std::numeric_limits<float>::infinity();
    }
    const absl::Status not_finite = reduce.Mean(values);
    EXPECT_TRUE(absl::IsInvalidArgument(not_finite)) << not_finite;
    if (group.rank() != 1) {
      EXPECT_EQ(not_finite.message(), "the values of rank 1 are not finite");
    }
    EXPECT_EQ(ErrorsOf(reduce), before);

    values = Draw(3, group.rank(), kElements);
    group.shorten = group.rank() == 2;
    const absl::Status broken = reduce.Mean(values);
    EXPECT_TRUE(absl::IsDataLoss(broken)) << broken;
    EXPECT_EQ(ErrorsOf(reduce), before);

    group.shorten = false;
    values = Draw(4, group.rank(), kElements);
    EXPECT_TRUE(reduce.Mean(values).ok());
  });
}

// A group's own errors come back, and nobody waits for ever.
TEST(OneBitAllReduceTest, ErrorsOfTheGroupComeBack) {
  auto members = transport::MakeMemoryGroup(2, absl::Minutes(1));
  members[1]->Abort();
  OneBitAllReduce reduce(100, CodecId::kSign1, *members[0]);
  std::vector<float> values(100, 1.0f);
  EXPECT_TRUE(absl::IsAborted(reduce.Mean(values)));
}

// What is constant comes out exactly on average; without errors it never does.
TEST(OneBitAllReduceTest, ForgettingTheErrorsIsClearlyWorse) {
  constexpr size_t kElements = 512;
  constexpr int kSteps = 400;
  const auto worst_after = [](bool keep) {
    double worst = 0.0;
    OnEachOf(2, [&](Watched& group) {
      OneBitAllReduce reduce(kElements, CodecId::kSign1, group);
      std::vector<double> sum(kElements);
      for (int step = 0; step < kSteps; ++step) {
        std::vector<float> values = Draw(1, group.rank(), kElements);
        ASSERT_TRUE(reduce.Mean(values).ok());
        for (size_t i = 0; i < kElements; ++i) sum[i] += values[i];
        if (!keep) reduce.Reset();
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
