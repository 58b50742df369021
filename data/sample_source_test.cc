#include "data/sample_source.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Shards of the given sizes that hold 0, 1, 2, ... together.
class CountingShards {
 public:
  explicit CountingShards(const std::vector<size_t>& sizes) {
    uint16_t next = 0;
    for (const size_t size : sizes) {
      std::vector<uint16_t> tokens(size);
      for (uint16_t& token : tokens) token = next++;
      bytes_.push_back(EncodeTokenShard(tokens).value());
    }
  }
  std::vector<TokenShard> views() const {
    std::vector<TokenShard> views;
    for (const std::string& bytes : bytes_) {
      views.push_back(
          TokenShard::Parse(std::as_bytes(std::span(bytes))).value());
    }
    return views;
  }

 private:
  std::vector<std::string> bytes_;
};

TEST(SampleSourceTest, TargetsAreTheInputsOneTokenLater) {
  const CountingShards shards({11});
  const auto source = SampleSource::Create(
      shards.views(), {.context_length = 5, .vocab_size = 11});
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(source->sample_count(), 2u);
  std::vector<int32_t> inputs(10);
  std::vector<int32_t> targets(10);
  ASSERT_TRUE(source->FillInOrder(0, 2, inputs, targets).ok());
  EXPECT_THAT(inputs, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(targets, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST(SampleSourcePropertyTest, CutsBetweenShardsCannotBeSeen) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    std::vector<size_t> sizes;
    size_t total = 0;
    while (total < 60) {
      sizes.push_back(random.Below(12));
      total += sizes.back();
    }
    const CountingShards shards(sizes);
    const int context = static_cast<int>(random.Below(9)) + 1;
    const auto source = SampleSource::Create(
        shards.views(), {.context_length = context, .vocab_size = 1000});
    ASSERT_TRUE(source.ok());
    ASSERT_EQ(source->sample_count(), (total - 1) / context);
    std::vector<int32_t> inputs(context);
    std::vector<int32_t> targets(context);
    for (uint64_t i = 0; i < source->sample_count(); ++i) {
      ASSERT_TRUE(source->FillInOrder(i, 1, inputs, targets).ok());
      for (int t = 0; t < context; ++t) {
        EXPECT_EQ(inputs[t], static_cast<int>(i) * context + t);
        EXPECT_EQ(targets[t], inputs[t] + 1);
      }
    }
  }
}

// What is told to be read is what Fill copies: the inputs and the last target.
TEST(SampleSourcePropertyTest, RangesAreTheBytesThatAreRead) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    const CountingShards shards(
        {random.Below(12), 20, random.Below(3), 10 + random.Below(30)});
    const int context = static_cast<int>(random.Below(9)) + 1;
    const auto source = SampleSource::Create(
        shards.views(),
        {.context_length = context, .vocab_size = 1000, .seed = seed});
    ASSERT_TRUE(source.ok());
    const std::vector<uint64_t> positions = {random.Below(50),
                                             random.Below(50)};
    std::vector<int32_t> inputs(2 * context), targets(2 * context);
    ASSERT_TRUE(source->Fill(positions, inputs, targets).ok());
    std::vector<int32_t> expected;
    for (int row = 0; row < 2; ++row) {
      const auto begin = inputs.begin() + row * context;
      expected.insert(expected.end(), begin, begin + context);
      expected.push_back(targets[(row + 1) * context - 1]);
    }
    std::vector<int32_t> read;
    source->EveryRange(positions, [&](std::span<const std::byte> bytes) {
      for (size_t i = 0; i < bytes.size(); i += 2) {
        read.push_back(std::to_integer<int>(bytes[i]) |
                       std::to_integer<int>(bytes[i + 1]) << 8);
      }
    });
    EXPECT_EQ(read, expected);
  }
}

TEST(SampleSourceTest, AnEpochCoversEveryInputOnce) {
  const CountingShards shards({31});
  const auto source = SampleSource::Create(
      shards.views(), {.context_length = 3, .vocab_size = 31, .seed = 9});
  ASSERT_TRUE(source.ok());
  std::vector<int> seen(30, 0);
  for (uint64_t p = 0; p < 10; ++p) {
    std::vector<int32_t> inputs(3);
    std::vector<int32_t> targets(3);
    ASSERT_TRUE(source->Fill(std::vector<uint64_t>{p}, inputs, targets).ok());
    for (const int32_t token : inputs) ++seen[token];
  }
  EXPECT_EQ(seen, std::vector<int>(30, 1));
}

TEST(SampleSourceTest, TokenOutsideTheVocabularyIsAnError) {
  const CountingShards shards({11});
  const auto source = SampleSource::Create(
      shards.views(), {.context_length = 5, .vocab_size = 10});
  ASSERT_TRUE(source.ok());
  std::vector<int32_t> inputs(5);
  std::vector<int32_t> targets(5);
  EXPECT_TRUE(source->FillInOrder(0, 1, inputs, targets).ok());
  const absl::Status status = source->FillInOrder(1, 1, inputs, targets);
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("token 10"));
}

TEST(SampleSourceTest, TokenThatNoIntHoldsIsAnError) {
  const std::vector<uint32_t> tokens = {1, 2, 0x8000'0000, 3};
  const std::string bytes = EncodeWideTokenShard(tokens).value();
  const TokenShard shard =
      TokenShard::Parse(std::as_bytes(std::span(bytes))).value();
  const auto source = SampleSource::Create(
      {shard}, {.context_length = 2, .vocab_size = 100000});
  ASSERT_TRUE(source.ok());
  std::vector<int32_t> inputs(2);
  std::vector<int32_t> targets(2);
  const absl::Status status = source->FillInOrder(0, 1, inputs, targets);
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("token 2147483648"));
}

TEST(SampleSourceTest, TooFewTokensIsOneClearLine) {
  const CountingShards shards({5});
  const auto source = SampleSource::Create(
      shards.views(), {.context_length = 5, .vocab_size = 10});
  EXPECT_TRUE(absl::IsInvalidArgument(source.status()));
  EXPECT_THAT(std::string(source.status().message()), HasSubstr("needs 6"));
}

}  // namespace
}  // namespace skerry::data
