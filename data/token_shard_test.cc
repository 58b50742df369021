#include "data/token_shard.h"

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string Shard(std::vector<uint16_t> tokens) {
  return EncodeTokenShard(tokens).value();
}

void SetWord(std::string& bytes, size_t index, int32_t value) {
  std::memcpy(bytes.data() + 4 * index, &value, 4);
}

TEST(TokenShardTest, ReadsBackWhatWasWritten) {
  const std::string bytes = Shard({1, 50256, 65535, 0});
  const auto shard = TokenShard::Parse(Bytes(bytes));
  ASSERT_TRUE(shard.ok()) << shard.status();
  EXPECT_EQ(shard->size(), 4u);
  std::vector<int32_t> out(3);
  shard->Read(1, out);
  EXPECT_THAT(out, ElementsAre(50256, 65535, 0));
}

// The layout that llm.c's readers expect, byte for byte.
TEST(TokenShardTest, LayoutIsThatOfLlmC) {
  const std::string bytes = Shard({0x0102});
  ASSERT_EQ(bytes.size(), 1026u);
  EXPECT_EQ(bytes.substr(0, 12),
            std::string("\x88\xd8\x34\x01\x01\0\0\0\x01\0\0\0", 12));
  EXPECT_EQ(bytes.substr(1024), std::string("\x02\x01", 2));
}

TEST(TokenShardTest, LargeVocabulariesTakeFourBytes) {
  const std::vector<int32_t> tokens = {1, 128255, 65536};
  const std::string bytes = EncodeShardOf(tokens, 128256).value();
  ASSERT_EQ(bytes.size(), 1036u);
  EXPECT_EQ(bytes.substr(0, 12),
            std::string("\xa1\xd9\x34\x01\x07\0\0\0\x03\0\0\0", 12));
  const auto shard = TokenShard::Parse(Bytes(bytes));
  ASSERT_TRUE(shard.ok()) << shard.status();
  EXPECT_EQ(shard->token_bytes(), 4);
  std::vector<int32_t> out(2);
  shard->Read(1, out);
  EXPECT_THAT(out, ElementsAre(128255, 65536));
  EXPECT_EQ(EncodeShardOf(out, 65536)->size(), 1028u);
}

TEST(TokenShardTest, EmptyShardIsAllowed) {
  const std::string bytes = Shard({});
  const auto shard = TokenShard::Parse(Bytes(bytes));
  ASSERT_TRUE(shard.ok());
  EXPECT_EQ(shard->size(), 0u);
}

TEST(TokenShardTest, RefusalsSayWhatIsWrong) {
  const std::string good = Shard({1, 2, 3});
  const auto error = [](const std::string& bytes) {
    return std::string(TokenShard::Parse(Bytes(bytes)).status().message());
  };
  EXPECT_THAT(error(""), HasSubstr("shorter than its header"));
  EXPECT_THAT(error(good.substr(0, 1023)), HasSubstr("1023 bytes"));
  EXPECT_THAT(error(good.substr(0, good.size() - 1)), HasSubstr("cut short"));
  EXPECT_THAT(error(good + "x"), HasSubstr("announces 3 tokens"));
  std::string bad = good;
  SetWord(bad, 0, 7);
  EXPECT_THAT(error(bad), HasSubstr("not a token shard"));
  bad = good;
  SetWord(bad, 1, 2);
  EXPECT_THAT(error(bad), HasSubstr("version 2"));
  bad = good;
  SetWord(bad, 2, -1);
  EXPECT_THAT(error(bad), HasSubstr("announces -1"));
  // 2^31 - 1 tokens of two bytes must not wrap to a small number.
  SetWord(bad, 2, 2147483647);
  EXPECT_THAT(error(bad), HasSubstr("announces 2147483647"));
}

TEST(TokenShardPropertyTest, DamagedBytesAreRefusedOrReadWithinBounds) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    std::string bytes = Shard(std::vector<uint16_t>(random.Below(20)));
    bytes.resize(random.Below(bytes.size() + 4));
    for (int i = 0; i < 3 && !bytes.empty(); ++i) {
      bytes[random.Below(std::min<size_t>(16, bytes.size()))] =
          static_cast<char>(random());
    }
    const auto shard = TokenShard::Parse(Bytes(bytes));
    if (!shard.ok()) continue;
    std::vector<int32_t> out(shard->size());
    shard->Read(0, out);
    EXPECT_EQ(bytes.size(), 1024 + 2 * out.size());
  }
}

}  // namespace
}  // namespace skerry::data
