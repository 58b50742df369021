// Codecs that are called again and again with slices of one size allocate
// nothing after the first calls.
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "compression/testing/allocations.h"
#include "compression/testing/backward_executor.h"
#include "compression/testing/conformance_cases.h"
#include "compression/threshold/threshold.h"
#include "compression/threshold/threshold_top_k.h"
#include "gtest/gtest.h"

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
    const int64_t before = Allocations();
    const bool encoded = one.codec->Encode(values, payload, workspace).ok();
    const int64_t by_encode = Allocations() - before;
    const bool set = one.codec->Decode(payload, decoded, workspace).ok();
    const bool added = one.codec->DecodeAdd(payload, decoded, workspace).ok();
    const int64_t by_all = Allocations() - before;
    ASSERT_TRUE(encoded && set && added) << one.name;
    if (call < kFirstCalls) continue;
    EXPECT_EQ(by_encode, 0) << one.name;
    EXPECT_EQ(by_all - by_encode, 0) << one.name;
  }
}

TEST(AllocationTest, TheTestCountsThem) {
  const int64_t before = Allocations();
  delete new int(3);
  EXPECT_GE(Allocations(), before);
  std::vector<float> some(100);
  EXPECT_GT(Allocations(), before);
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

}  // namespace
}  // namespace skerry::compression
