#include "research/stateful/error_feedback.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "compression/chunk_top_k/chunk_top_k.h"
#include "compression/codec.h"
#include "compression/dense/dense_codec.h"
#include "compression/testing/backward_executor.h"
#include "compression/threshold/threshold_top_k.h"
#include "compression/top_k/top_k.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

constexpr size_t kElements = 5000;

std::vector<float> Draw(Random& random) {
  std::vector<float> values(kElements);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.5);
  }
  return values;
}

// Every sparse codec, and sparse ones over quantised values.
std::vector<std::unique_ptr<const Codec>> Sparse() {
  std::vector<std::unique_ptr<const Codec>> codecs;
  for (const CodecId inner :
       {CodecId::kRawF32, CodecId::kInt8Block, CodecId::kNf4}) {
    codecs.push_back(*MakeTopK({0.05, inner}));
    codecs.push_back(*MakeThresholdTopK(
        {0.05, inner},
        [](std::span<const float> values, size_t target, Workspace&) {
          return SidcoThreshold(values, target, {});
        }));
  }
  codecs.push_back(*MakeChunkTopK(64));
  return codecs;
}

// The largest |given - sent - error| of a history that changes codec at every
// step, relative to what was given there.
double WorstImbalance(uint64_t seed) {
  Random random(seed);
  const auto sparse = Sparse();
  std::vector<const Codec*> codecs;
  for (const NamedCodec& one : DenseCodecs()) codecs.push_back(one.codec);
  for (const auto& codec : sparse) codecs.push_back(codec.get());
  ErrorFeedback feedback(kElements);
  std::vector<double> given(kElements), sent(kElements), size(kElements);
  std::vector<float> decoded(kElements);
  std::vector<std::byte> payload;
  for (int step = 0; step < 100; ++step) {
    const std::vector<float> x = Draw(random);
    const Codec& codec = *codecs[random.Below(codecs.size())];
    EXPECT_TRUE(feedback.Encode(codec, x, payload).ok());
    EXPECT_TRUE(codec.Decode(payload, decoded).ok());
    for (size_t i = 0; i < kElements; ++i) {
      given[i] += x[i];
      sent[i] += decoded[i];
      size[i] += std::fabs(x[i]);
    }
  }
  double worst = 0.0;
  for (size_t i = 0; i < kElements; ++i) {
    const double imbalance = given[i] - sent[i] - feedback.error()[i];
    worst = std::max(worst, std::fabs(imbalance) / size[i]);
  }
  return worst;
}

TEST(ErrorFeedbackTest, WhatIsGivenIsSentOrKeptOverEveryCodec) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    EXPECT_LT(WorstImbalance(seed), 1e-5) << seed;
    EXPECT_EQ(WorstImbalance(seed), WorstImbalance(seed));
  }
}

TEST(ErrorFeedbackTest, ExecutorsChangeNothing) {
  constexpr size_t kLarge = 300'001;
  BackwardExecutor backward(3);
  ErrorFeedback alone(kLarge, 0.9f);
  ErrorFeedback shared(kLarge, 0.9f, backward);
  Random random(7);
  std::vector<std::byte> expected;
  std::vector<std::byte> payload;
  for (const char* name : {"sign1", "top_k/64", "nf4", "chunk_top_k/64"}) {
    const Codec& codec = **FindCodec(*ParseCodecName(name));
    std::vector<float> x(kLarge);
    for (float& value : x) value = static_cast<float>(random.Uniform() - 0.5);
    ASSERT_TRUE(alone.Encode(codec, x, expected).ok());
    ASSERT_TRUE(shared.Encode(codec, x, payload).ok());
    EXPECT_EQ(payload, expected);
    EXPECT_TRUE(std::ranges::equal(shared.error(), alone.error()));
  }
}

TEST(ErrorFeedbackTest, BetaScalesWhatIsKept) {
  const auto codec = *MakeTopK({0.5, CodecId::kRawF32});
  ErrorFeedback feedback(2, 0.5f);
  std::vector<std::byte> payload;
  ASSERT_TRUE(feedback.Encode(*codec, std::vector<float>{4, 2}, payload).ok());
  EXPECT_EQ(feedback.error()[0], 0.0f);
  EXPECT_EQ(feedback.error()[1], 2.0f);
  ASSERT_TRUE(feedback.Encode(*codec, std::vector<float>{9, 2}, payload).ok());
  EXPECT_EQ(feedback.error()[1], 3.0f);
}

TEST(ErrorFeedbackTest, ARefusedStepChangesNothing) {
  ErrorFeedback feedback(2);
  const Codec& codec = **FindCodec(CodecId::kSign1);
  std::vector<std::byte> payload;
  ASSERT_TRUE(feedback.Encode(codec, std::vector<float>{4, 2}, payload).ok());
  const std::vector<float> before(feedback.error().begin(),
                                  feedback.error().end());
  const std::vector<float> bad = {std::numeric_limits<float>::quiet_NaN(), 1};
  EXPECT_TRUE(absl::IsInvalidArgument(feedback.Encode(codec, bad, payload)));
  EXPECT_EQ(
      std::vector<float>(feedback.error().begin(), feedback.error().end()),
      before);
}

}  // namespace
}  // namespace skerry::compression
