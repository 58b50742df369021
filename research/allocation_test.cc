// Encoders that keep state from step to step allocate nothing after the first
// calls.
#include <cstdint>
#include <span>
#include <vector>

#include "absl/time/time.h"
#include "base/random.h"
#include "compression/testing/allocations.h"
#include "compression/testing/backward_executor.h"
#include "gtest/gtest.h"
#include "research/reduce/one_bit_all_reduce.h"
#include "research/reduce/one_bit_mean.h"
#include "research/stateful/cached_threshold.h"
#include "research/stateful/dgc.h"
#include "research/stateful/error_feedback.h"
#include "research/stateful/power_sgd.h"
#include "transport/memory/memory_group.h"

namespace skerry::compression {
namespace {

// Above every size from which a codec works in another way.
constexpr size_t kElements = 300'001;
constexpr int kFirstCalls = 2;
constexpr int kCalls = 3;

std::vector<float> Values() {
  Random random(8);
  std::vector<float> values(kElements);
  for (float& value : values) {
    value = static_cast<float>((random.Uniform() - 0.5) /
                               (0.05 + random.Uniform()));
  }
  return values;
}

// Every other step finds a threshold.
TEST(AllocationTest, NoCachedThresholdWithErrorFeedbackAllocates) {
  const std::vector<float> values = Values();
  std::vector<std::byte> payload;
  CachedThresholdOptions options;
  options.refresh_every = 2;
  CachedThreshold cached = *CachedThreshold::Make(options);
  BackwardExecutor executor(3);
  ErrorFeedback feedback(kElements, 0.0f, executor);
  const auto encode = [&](std::span<const float> sum,
                          std::vector<std::byte>& to, Workspace& workspace) {
    return cached.Encode(sum, to, workspace);
  };
  for (int call = 0; call < kFirstCalls + 2 * kCalls; ++call) {
    const int64_t before = Allocations();
    ASSERT_TRUE(
        feedback.EncodeWith(encode, cached.reader(), values, payload).ok());
    if (call < kFirstCalls) continue;
    EXPECT_EQ(Allocations(), before) << call;
  }
  EXPECT_EQ(cached.refreshes(), (kFirstCalls + 2 * kCalls) / 2);
}

TEST(AllocationTest, NorDoErrorFeedbackAndDgc) {
  const std::vector<float> values = Values();
  std::vector<std::byte> payload;
  const Codec& codec = **FindCodec(*ParseCodecName("top_k/64"));
  ErrorFeedback feedback(kElements);
  DgcOptions options;
  options.warmup_stages = 0;
  Dgc dgc = *Dgc::Make(kElements, options);
  for (int call = 0; call < kFirstCalls + kCalls; ++call) {
    const int64_t before = Allocations();
    const bool fed = feedback.Encode(codec, values, payload).ok();
    const int64_t by_feedback = Allocations() - before;
    const bool sent = dgc.Encode(values, 100, payload).ok();
    const int64_t by_dgc = Allocations() - before - by_feedback;
    ASSERT_TRUE(fed && sent);
    if (call < kFirstCalls) continue;
    EXPECT_EQ(by_feedback, 0);
    EXPECT_EQ(by_dgc, 0);
  }
}

TEST(AllocationTest, NorDoPowerSgdAndTheOneBitMean) {
  const std::vector<float> values = Values();
  constexpr size_t kRows = 300;
  constexpr size_t kColumns = 1000;
  static_assert(kRows * kColumns <= kElements);
  std::vector<float> approximation(kRows * kColumns);
  PowerSgd power(kRows, kColumns, 2, 3);
  constexpr int kMembers = 2;
  OneBitMean mean(kElements, kMembers, 0, CodecId::kSign1);
  std::vector<OneBitMean::Payload> sent;
  // Sizes are equal, so a member's own payloads stand for all.
  std::vector<OneBitMean::Payload> received(kMembers);
  OneBitMean::Payload result;
  std::vector<float> out(kElements);
  for (int call = 0; call < kFirstCalls + kCalls; ++call) {
    const int64_t before = Allocations();
    const bool projected =
        power.Begin(std::span(values).first(kRows * kColumns)).ok() &&
        power.Project().ok() && power.Finish(approximation).ok();
    const int64_t by_power = Allocations() - before;
    const bool given = mean.Send(values, sent).ok();
    const int64_t by_send = Allocations() - before - by_power;
    received.assign(kMembers, sent[0]);
    const int64_t middle = Allocations();
    const bool reduced = mean.Reduce(received, result).ok();
    const bool ended = mean.Receive(sent, out).ok();
    ASSERT_TRUE(projected && given && reduced && ended);
    mean.Keep();
    const int64_t by_mean = by_send + Allocations() - middle;
    if (call < kFirstCalls) continue;
    EXPECT_EQ(by_power, 0);
    EXPECT_EQ(by_mean, 0);
  }
}

// A group of one allocates nothing itself.
TEST(AllocationTest, NorDoesTheOneBitAllReduce) {
  const auto group = transport::MakeMemoryGroup(1, absl::Minutes(1));
  auto reduce =
      OneBitAllReduce::Create(kElements, CodecId::kSign1, *group[0]).value();
  std::vector<float> values = Values();
  for (int call = 0; call < kFirstCalls + kCalls; ++call) {
    const int64_t before = Allocations();
    ASSERT_TRUE(reduce->Mean(values).ok());
    if (call < kFirstCalls) continue;
    EXPECT_EQ(Allocations(), before);
  }
}

}  // namespace
}  // namespace skerry::compression
