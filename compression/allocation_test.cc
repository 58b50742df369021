// Codecs that are called again and again with slices of one size allocate
// nothing after the first calls.
#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/random.h"
#include "compression/reduce/one_bit_all_reduce.h"
#include "compression/reduce/one_bit_mean.h"
#include "compression/sparse/random_k.h"
#include "compression/sparse/threshold_top_k.h"
#include "compression/stateful/cached_threshold.h"
#include "compression/stateful/dgc.h"
#include "compression/stateful/error_feedback.h"
#include "compression/stateful/power_sgd.h"
#include "compression/testing/backward_executor.h"
#include "compression/testing/conformance_cases.h"
#include "compression/threshold/threshold.h"
#include "gtest/gtest.h"
#include "transport/memory/memory_group.h"

namespace {

int64_t allocations = 0;

}  // namespace

// The whole program's, so that nothing is missed.
void* operator new(size_t size) {
  ++allocations;
  void* memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) std::abort();
  return memory;
}
void* operator new[](size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

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

void ExpectNoneInSteadyState(const ConformanceCase& one, Workspace& workspace) {
  const std::vector<float> values = Values();
  std::vector<float> decoded(kElements);
  std::vector<std::byte> payload;
  for (int call = 0; call < kFirstCalls + kCalls; ++call) {
    const int64_t before = allocations;
    const bool encoded = one.codec->Encode(values, payload, workspace).ok();
    const int64_t by_encode = allocations - before;
    const bool set = one.codec->Decode(payload, decoded, workspace).ok();
    const bool added = one.codec->DecodeAdd(payload, decoded, workspace).ok();
    const int64_t by_all = allocations - before;
    ASSERT_TRUE(encoded && set && added) << one.name;
    if (call < kFirstCalls) continue;
    EXPECT_EQ(by_encode, 0) << one.name;
    EXPECT_EQ(by_all - by_encode, 0) << one.name;
  }
}

TEST(AllocationTest, TheTestCountsThem) {
  const int64_t before = allocations;
  delete new int(3);
  EXPECT_GE(allocations, before);
  std::vector<float> some(100);
  EXPECT_GT(allocations, before);
}

TEST(AllocationTest, NoCodecAllocatesInSteadyState) {
  for (const auto& cases : {NumberedCases(), SparseOptionCases()}) {
    for (const ConformanceCase& one : cases) {
      Workspace workspace;
      ExpectNoneInSteadyState(one, workspace);
    }
  }
}

TEST(AllocationTest, NorDoesOneThatWorksInParts) {
  BackwardExecutor executor(3);
  Workspace workspace(executor);
  for (const ConformanceCase& one : NumberedCases()) {
    ExpectNoneInSteadyState(one, workspace);
  }
}

ConformanceCase ThresholdCase(const char* name, ThresholdEstimator estimate,
                              ThresholdGuess guess) {
  return {name,
          *MakeThresholdTopK({0.02, CodecId::kInt8Block}, std::move(estimate),
                             std::move(guess)),
          nullptr, nullptr};
}

TEST(AllocationTest, NorDoesASampledThresholdOrOneWhoseGuessIsRefused) {
  using Values = std::span<const float>;
  const auto sampled = [](Values values, size_t target, Workspace& workspace) {
    return SampledThreshold(values, target, 3, workspace);
  };
  const auto sidco = [](Values values, size_t target, Workspace& workspace) {
    return SidcoThreshold(values, target, {}, workspace);
  };
  // One that nothing reaches, and one that nearly all do.
  const auto guess = [](float value) {
    return [value](Values values, size_t target, Workspace& workspace) {
      EXPECT_TRUE(SidcoGuess(values, target, {}, workspace).has_value());
      return std::optional<Guess>({value, 2.0});
    };
  };
  BackwardExecutor executor(3);
  for (ParallelExecutor* loops :
       {&CallingThread(), static_cast<ParallelExecutor*>(&executor)}) {
    Workspace workspace(*loops);
    ExpectNoneInSteadyState(ThresholdCase("sampled", sampled, nullptr),
                            workspace);
    ExpectNoneInSteadyState(ThresholdCase("too high", sidco, guess(3e38f)),
                            workspace);
    ExpectNoneInSteadyState(ThresholdCase("too low", sidco, guess(1e-9f)),
                            workspace);
  }
}

TEST(AllocationTest, NorDoesRandomKWithASeedForEachStep) {
  const std::vector<float> values = Values();
  std::vector<float> decoded(kElements);
  std::vector<std::byte> payload;
  Workspace workspace;
  const RandomK made = *RandomK::Make({0.02, CodecId::kInt8Block}, 0);
  for (uint64_t step = 0; step < kFirstCalls + kCalls; ++step) {
    const int64_t before = allocations;
    const RandomK codec = made.WithSeed(step);
    ASSERT_TRUE(codec.Encode(values, payload, workspace).ok());
    ASSERT_TRUE(codec.Decode(payload, decoded, workspace).ok());
    if (step < kFirstCalls) continue;
    EXPECT_EQ(allocations, before);
  }
}

// Every other step finds a threshold.
TEST(AllocationTest, NorDoesACachedThresholdWithErrorFeedback) {
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
    const int64_t before = allocations;
    ASSERT_TRUE(
        feedback.EncodeWith(encode, cached.reader(), values, payload).ok());
    if (call < kFirstCalls) continue;
    EXPECT_EQ(allocations, before) << call;
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
    const int64_t before = allocations;
    const bool fed = feedback.Encode(codec, values, payload).ok();
    const int64_t by_feedback = allocations - before;
    const bool sent = dgc.Encode(values, 100, payload).ok();
    const int64_t by_dgc = allocations - before - by_feedback;
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
    const int64_t before = allocations;
    const bool projected =
        power.Begin(std::span(values).first(kRows * kColumns)).ok() &&
        power.Project().ok() && power.Finish(approximation).ok();
    const int64_t by_power = allocations - before;
    const bool given = mean.Send(values, sent).ok();
    const int64_t by_send = allocations - before - by_power;
    received.assign(kMembers, sent[0]);
    const int64_t middle = allocations;
    const bool reduced = mean.Reduce(received, result).ok();
    const bool ended = mean.Receive(sent, out).ok();
    ASSERT_TRUE(projected && given && reduced && ended);
    mean.Keep();
    const int64_t by_mean = by_send + allocations - middle;
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
    const int64_t before = allocations;
    ASSERT_TRUE(reduce->Mean(values).ok());
    if (call < kFirstCalls) continue;
    EXPECT_EQ(allocations, before);
  }
}

}  // namespace
}  // namespace skerry::compression
