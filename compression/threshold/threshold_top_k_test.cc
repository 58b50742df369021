#include "compression/threshold/threshold_top_k.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compression/testing/draws.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

std::unique_ptr<const Codec> Fixed(float threshold, double density) {
  return *MakeThresholdTopK(
      {density, CodecId::kRawF32},
      [threshold](std::span<const float>, size_t, Workspace&) {
        return Threshold{threshold, 0};
      });
}

// By the guess of the presets; the estimate is not asked.
double SentOverTarget(const std::vector<float>& values, double density) {
  const auto codec = *MakeThresholdTopK(
      {density, CodecId::kSign1},
      [](std::span<const float>, size_t, Workspace&) {
        ADD_FAILURE() << "the guess is no good";
        return Threshold{};
      },
      [](std::span<const float> all, size_t target, Workspace& workspace) {
        return SidcoGuess(all, target, {}, workspace);
      });
  std::vector<std::byte> payload;
  EXPECT_TRUE(codec->Encode(values, payload).ok());
  uint32_t count;
  std::memcpy(&count, payload.data(), sizeof(count));
  return count / static_cast<double>(KeptElements(values.size(), density));
}

TEST(ThresholdTopKTest, WhatReachesTheThresholdIsSentUpToTheCap) {
  const std::vector<float> values = {1, -3, 2, 0, -2, 4, 5, -0.0f};
  std::vector<std::byte> payload;
  std::vector<float> decoded(values.size());
  const auto codec = Fixed(2.0f, 0.5);  // at most 8
  ASSERT_TRUE(codec->Encode(values, payload).ok());
  ASSERT_TRUE(codec->Decode(payload, decoded).ok());
  EXPECT_EQ(decoded, (std::vector<float>{0, -3, 2, 0, -2, 4, 5, 0}));
  const auto few = Fixed(2.0f, 0.125);  // at most 2
  ASSERT_TRUE(few->Encode(values, payload).ok());
  ASSERT_TRUE(few->Decode(payload, decoded).ok());
  EXPECT_EQ(decoded, (std::vector<float>{0, -3, 2, 0, 0, 0, 0, 0}));
  // A threshold of 0 sends no zeros.
  const auto all = Fixed(0.0f, 1.0);
  ASSERT_TRUE(all->Encode(values, payload).ok());
  EXPECT_EQ(payload.size(), 4u + 1u + 6u * 4u);
}

TEST(ThresholdTopKTest, AGuessCountsWhereItIsGood) {
  std::vector<float> values(100);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i + 1);
  }
  const auto sent_with = [&](std::optional<Guess> guess) {
    const auto codec = *MakeThresholdTopK(
        {0.2, CodecId::kRawF32},
        [](std::span<const float>, size_t target, Workspace&) {
          EXPECT_EQ(target, 20u);
          return Threshold{81.0f, 20};
        },
        [guess](std::span<const float>, size_t, Workspace&) { return guess; });
    std::vector<std::byte> payload;
    EXPECT_TRUE(codec->Encode(values, payload).ok());
    return std::to_integer<size_t>(payload.front());
  };
  // An exponent so large that nothing is moved by it.
  const auto fixed = [](float value) { return Guess{value, 1e9}; };
  EXPECT_EQ(sent_with(std::nullopt), 20u);
  EXPECT_EQ(sent_with(fixed(91.0f)), 10u);
  EXPECT_EQ(sent_with(fixed(92.0f)), 20u);  // too few
  EXPECT_EQ(sent_with(fixed(61.0f)), 40u);
  EXPECT_EQ(sent_with(fixed(60.0f)), 20u);  // too many
  EXPECT_EQ(sent_with(fixed(std::nanf(""))), 20u);
  // Moved, unless it is close.
  EXPECT_EQ(sent_with(Guess{83.0f, 4.0}), 18u);
  EXPECT_EQ(sent_with(Guess{79.0f, 4.0}), 22u);
  EXPECT_EQ(sent_with(Guess{91.0f, 5.0}), 21u);  // to 79.2
  EXPECT_EQ(sent_with(Guess{71.0f, 3.0}), 19u);  // to 81.3
}

TEST(ThresholdTopKTest, NotFiniteIsRefusedWhateverTheGuessSees) {
  for (const float bad : {std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    for (const size_t at : {size_t{0}, size_t{50}, size_t{99}}) {
      for (const float guess : {1.0f, 50.0f, 3e38f}) {
        std::vector<float> values(100, 100.0f);
        values[at] = bad;
        const auto codec = *MakeThresholdTopK(
            {0.01, CodecId::kRawF32},
            [](std::span<const float>, size_t, Workspace&) {
              return Threshold{};
            },
            [guess](std::span<const float>, size_t, Workspace&) {
              return std::optional<Guess>({guess, 2.0});
            });
        std::vector<std::byte> payload;
        const absl::Status said = codec->Encode(values, payload);
        EXPECT_TRUE(absl::IsInvalidArgument(said));
        EXPECT_TRUE(absl::StartsWith(said.message(),
                                     absl::StrCat("value ", at, " of 100 is")))
            << said;
      }
    }
  }
}

// What jobs send of slices that are guessed about, on the distributions of
// compression/testing/draws.h.
TEST(ThresholdTopKTest, GuessedSlicesSendATenthMoreOrLessThanTheTarget) {
  for (const size_t elements : {size_t{1} << 18, size_t{1} << 20}) {
    for (const Distribution& distribution : kDistributions) {
      double least = HUGE_VAL;
      double most = 0.0;
      for (int seed = 1; seed <= 4; ++seed) {
        const std::vector<float> values =
            Drawn(elements, seed, distribution.draw);
        for (const double density : {0.25, 0.1, 0.01, 1.0 / 256, 0.001}) {
          const double ratio = SentOverTarget(values, density);
          EXPECT_GE(ratio, 0.9) << distribution.name << " at " << density;
          EXPECT_LE(ratio, 1.1) << distribution.name << " at " << density;
          least = std::min(least, ratio);
          most = std::max(most, ratio);
        }
      }
      std::printf("sent of %zu, %-18s %.3f to %.3f\n", elements,
                  distribution.name, least, most);
    }
  }
}

TEST(ThresholdTopKTest, ACountAboveTwiceTheTargetIsRefused) {
  const auto codec = Fixed(0.0f, 0.05);
  std::vector<float> decoded(1000);
  std::vector<std::byte> many(4 + 101 + 101 * 4);
  many[0] = std::byte{101};
  EXPECT_TRUE(absl::IsDataLoss(codec->Decode(many, decoded)));
  std::vector<std::byte> most(4 + 100 + 100 * 4);
  most[0] = std::byte{100};
  EXPECT_TRUE(codec->Decode(most, decoded).ok());
}

// Reading the memory of this slice would crash the test.
TEST(ThresholdTopKTest, MoreThanAPayloadCanCountIsRefusedUnread) {
  constexpr size_t kElements = size_t{1} << 32;
  void* const memory = mmap(nullptr, kElements * sizeof(float), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::span<const float> values(static_cast<const float*>(memory),
                                      kElements);
  const auto no_threshold = [](std::span<const float>, size_t, Workspace&) {
    return Threshold{};
  };
  std::vector<std::byte> payload;
  for (const double density : {1.0, 0.5}) {
    const auto codec =
        *MakeThresholdTopK({density, CodecId::kSign1}, no_threshold);
    EXPECT_TRUE(absl::IsInvalidArgument(codec->Encode(values, payload)));
  }
  munmap(memory, kElements * sizeof(float));
}

}  // namespace
}  // namespace skerry::compression
