#include "data/manifest.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::HasSubstr;

Manifest Example() {
  Manifest manifest{.tokenizer = "bytes",
                    .tokenizer_sha256 = "",
                    .document_end = std::nullopt,
                    .vocab_size = 256,
                    .shards = {}};
  manifest.shards.push_back(
      {"train_0.bin", 1000, std::string(64, 'a'), Split::kTrain});
  manifest.shards.push_back(
      {"validation_0.bin", 50, std::string(64, '0'), Split::kValidation});
  return manifest;
}

std::string ErrorOf(const Manifest& manifest) {
  return std::string(ValidateManifest(manifest).message());
}

TEST(ManifestTest, ReadsBackWhatWasWritten) {
  const auto parsed = ParseManifest(SerializeManifest(Example()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, Example());
  EXPECT_EQ(TokenCount(*parsed, Split::kTrain), 1000u);
  EXPECT_EQ(TokenCount(*parsed, Split::kValidation), 50u);
}

TEST(ManifestTest, TokenizerFileAndDocumentEndComeBack) {
  Manifest manifest = Example();
  manifest.tokenizer = "tokenizer.json";
  manifest.tokenizer_sha256 = std::string(64, 'b');
  manifest.vocab_size = 128256;
  manifest.document_end = 128001;
  const auto parsed = ParseManifest(SerializeManifest(manifest));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, manifest);

  manifest.document_end = 128256;
  EXPECT_THAT(ErrorOf(manifest), HasSubstr("document_end"));
  manifest.document_end = -1;
  EXPECT_THAT(ErrorOf(manifest), HasSubstr("document_end"));
  manifest.document_end.reset();
  manifest.tokenizer_sha256 = "b";
  EXPECT_THAT(ErrorOf(manifest), HasSubstr("malformed tokenizer_sha256"));
  manifest.tokenizer_sha256 = std::string(64, 'b');
  manifest.tokenizer = "../tokenizer.json";
  EXPECT_THAT(ErrorOf(manifest), HasSubstr("beside the manifest"));
  manifest.tokenizer = "train_0.bin";
  EXPECT_THAT(ErrorOf(manifest), HasSubstr("twice"));
}

TEST(ManifestTest, NamesThatLeaveTheDirectoryAreRefused) {
  for (const char* name : {"../x", "a/b", "", ".hidden", "a b", "a\n"}) {
    Manifest manifest = Example();
    manifest.shards[0].file = name;
    EXPECT_THAT(ErrorOf(manifest), HasSubstr("beside the manifest")) << name;
  }
}

TEST(ManifestTest, RefusalsSayWhatIsWrong) {
  Manifest manifest = Example();
  manifest.shards[1].file = "train_0.bin";
  EXPECT_THAT(ErrorOf(manifest), HasSubstr("twice"));
  manifest = Example();
  manifest.shards[0].sha256[3] = 'G';
  EXPECT_THAT(ErrorOf(manifest), HasSubstr("malformed sha256"));
  manifest = Example();
  manifest.vocab_size = (1 << 24) + 1;
  EXPECT_THAT(ErrorOf(manifest), HasSubstr("vocab_size"));
  manifest = Example();
  manifest.shards[0].tokens = 0;
  EXPECT_THAT(ErrorOf(manifest), HasSubstr("no training tokens"));
}

TEST(ManifestTest, TextThatIsNoManifestIsRefused) {
  const std::string good = SerializeManifest(Example());
  const auto refused = [](const std::string& text) {
    return absl::IsInvalidArgument(ParseManifest(text).status());
  };
  for (const char* text : {"", "[]", "{}", "null", "{\"format\":1}"}) {
    EXPECT_TRUE(refused(text)) << text;
  }
  EXPECT_TRUE(refused(absl::StrReplaceAll(good, {{"data/1", "data/2"}})));
  EXPECT_TRUE(refused(absl::StrReplaceAll(good, {{"1000", "-1000"}})));
  EXPECT_TRUE(refused(absl::StrReplaceAll(good, {{"1000", "1e3"}})));
  EXPECT_TRUE(refused(absl::StrReplaceAll(good, {{"256", "4294967552"}})));
  EXPECT_TRUE(refused(absl::StrReplaceAll(good, {{"\"train\"", "\"x\""}})));
  EXPECT_TRUE(refused(std::string(100000, '[')));
}

TEST(ManifestPropertyTest, DamagedTextIsRefusedOrValid) {
  const std::string good = SerializeManifest(Example());
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    std::string text = good;
    for (uint64_t i = random.Below(4) + 1; i > 0; --i) {
      text[random.Below(text.size())] = static_cast<char>(random());
    }
    const auto parsed = ParseManifest(text);
    EXPECT_TRUE(!parsed.ok() || ValidateManifest(*parsed).ok());
  }
}

}  // namespace
}  // namespace skerry::data
