#include "transport/tcp/call_flow.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::transport {
namespace {

// Members without sockets: what one sends waits in a queue until a coin lets
// the other one take it, in pieces of any length.
class Wire {
 public:
  explicit Wire(std::vector<std::unique_ptr<CallFlow>> flows, uint64_t seed)
      : flows_(std::move(flows)),
        queues_(flows_.size() * flows_.size()),
        random_(seed) {}

  // Returns whether all were done before nothing moved any more. What goes from
  // `slow` to rank 0 comes only when nothing else moves; -1: nobody is slow.
  bool Run(int slow = -1) {
    const int size = static_cast<int>(flows_.size());
    for (int idle = 0; idle < 1000; ++idle) {
      for (int i = 0; i < size * size; ++i) {
        const int from = static_cast<int>(random_.Below(flows_.size()));
        const int to = static_cast<int>(random_.Below(flows_.size()));
        if (from == to || (from == slow && to == 0 && idle < 100)) continue;
        if (Send(from, to) + Receive(from, to) > 0) idle = 0;
      }
      if (std::all_of(flows_.begin(), flows_.end(),
                      [](const auto& flow) { return flow->IsDone(); })) {
        return std::all_of(queues_.begin(), queues_.end(),
                           [](const auto& queue) { return queue.empty(); });
      }
    }
    return false;
  }

 private:
  std::deque<std::byte>& Queue(int from, int to) {
    return queues_[static_cast<size_t>(from) * flows_.size() +
                   static_cast<size_t>(to)];
  }
  size_t Some(size_t most) {
    return most == 0 ? 0 : 1 + static_cast<size_t>(random_.Below(most));
  }
  size_t Send(int from, int to) {
    CallFlow& flow = *flows_[static_cast<size_t>(from)];
    const std::span<const std::byte> bytes = flow.ToSend(to);
    const size_t count = Some(bytes.size());
    auto& queue = Queue(from, to);
    queue.insert(queue.end(), bytes.begin(),
                 bytes.begin() + static_cast<std::ptrdiff_t>(count));
    if (count > 0) flow.OnSent(to, count);
    return count;
  }
  size_t Receive(int from, int to) {
    CallFlow& flow = *flows_[static_cast<size_t>(to)];
    auto& queue = Queue(from, to);
    const std::span<std::byte> bytes = flow.ToReceive(from);
    const size_t count = Some(std::min(bytes.size(), queue.size()));
    std::copy_n(queue.begin(), count, bytes.begin());
    queue.erase(queue.begin(),
                queue.begin() + static_cast<std::ptrdiff_t>(count));
    if (count > 0) flow.OnReceived(from, count);
    return count;
  }

  std::vector<std::unique_ptr<CallFlow>> flows_;
  std::vector<std::deque<std::byte>> queues_;
  Random random_;
};

std::vector<std::vector<float>> Drawn(int size, size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<float>> values(static_cast<size_t>(size));
  for (std::vector<float>& one : values) {
    for (size_t i = 0; i < count; ++i) {
      one.push_back(
          static_cast<float>((random.Uniform() - 0.5) *
                             static_cast<double>(1 << random.Below(24))));
    }
  }
  return values;
}

TEST(AllReduceFlowTest, SumsAreInRankOrderHoweverTheBytesCome) {
  constexpr size_t kPart = AllReduceFlow::kPartElements;
  for (const int size : {2, 3, 5}) {
    const auto ranks = static_cast<size_t>(size);
    for (const size_t count : {size_t{0}, size_t{1}, size_t{17}, kPart * ranks,
                               kPart * ranks + 1, 9 * kPart * ranks + 100}) {
      const uint64_t seed = count + ranks;
      SCOPED_TRACE(testing::Message()
                   << "seed " << seed << ", " << size << " members");
      auto values = Drawn(size, count, seed);
      std::vector<float> sum = values[0];
      for (size_t rank = 1; rank < ranks; ++rank) {
        for (size_t i = 0; i < count; ++i) sum[i] += values[rank][i];
      }
      std::vector<ReduceStaging> staging(ranks);
      std::vector<std::unique_ptr<CallFlow>> flows;
      for (int rank = 0; rank < size; ++rank) {
        const auto at = static_cast<size_t>(rank);
        flows.push_back(std::make_unique<AllReduceFlow>(
            rank, size, std::span(values[at]), staging[at]));
      }
      ASSERT_TRUE(Wire(std::move(flows), seed).Run());
      for (const std::vector<float>& one : values) {
        ASSERT_EQ(one.size(), count);
        EXPECT_TRUE(count == 0 || std::memcmp(one.data(), sum.data(),
                                              count * sizeof(float)) == 0);
      }
    }
  }
}

TEST(AllReduceFlowTest, OthersRunAheadOfASlowMemberAndOverwriteNothing) {
  constexpr int kSize = 3;
  const size_t count = 20 * kSize * AllReduceFlow::kPartElements;
  auto values = Drawn(kSize, count, 5);
  std::vector<float> sum = values[0];
  for (size_t i = 0; i < count; ++i) sum[i] += values[1][i];
  for (size_t i = 0; i < count; ++i) sum[i] += values[2][i];
  std::vector<ReduceStaging> staging(kSize);
  std::vector<std::unique_ptr<CallFlow>> flows;
  for (int rank = 0; rank < kSize; ++rank) {
    const auto at = static_cast<size_t>(rank);
    flows.push_back(std::make_unique<AllReduceFlow>(
        rank, kSize, std::span(values[at]), staging[at]));
  }
  ASSERT_TRUE(Wire(std::move(flows), 5).Run(/*slow=*/2));
  for (const std::vector<float>& one : values) EXPECT_TRUE(one == sum);
}

TEST(AllReduceFlowTest, StagingHoldsAFewSegmentsHoweverLongTheValuesAre) {
  std::vector<float> values(100 * 2 * AllReduceFlow::kPartElements);
  ReduceStaging staging;
  const AllReduceFlow flow(0, 2, values, staging);
  EXPECT_LE(staging.elements, 16 * AllReduceFlow::kPartElements);
}

TEST(BroadcastFlowTest, ValuesPassFromOneToTheNext) {
  for (const int size : {2, 4}) {
    for (int root = 0; root < size; ++root) {
      auto values = Drawn(size, 1000, 7);
      const std::vector<float> expected = values[static_cast<size_t>(root)];
      std::vector<std::unique_ptr<CallFlow>> flows;
      for (int rank = 0; rank < size; ++rank) {
        flows.push_back(std::make_unique<BroadcastFlow>(
            rank, size, root,
            std::as_writable_bytes(
                std::span(values[static_cast<size_t>(rank)]))));
      }
      ASSERT_TRUE(Wire(std::move(flows), 11).Run());
      for (const auto& one : values) EXPECT_EQ(one, expected);
    }
  }
}

}  // namespace
}  // namespace skerry::transport
