#include "checkpoint/manifest.h"

#include <functional>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::checkpoint {
namespace {

using ::testing::HasSubstr;

Manifest Example() {
  Manifest manifest{.job = "bible",
                    .job_id = 7,
                    .sequence = 120,
                    .samples = 9600,
                    .files = {}};
  manifest.files.push_back({"model.safetensors", 1000, std::string(64, 'a')});
  manifest.files.push_back({"config.json", 50, std::string(64, '0')});
  return manifest;
}

TEST(ManifestTest, WhatIsWrittenIsReadBack) {
  const auto again = ParseManifest(SerializeManifest(Example()));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, Example());
}

TEST(ManifestTest, WhatWasChangedAfterwardsIsRefused) {
  const std::string text = SerializeManifest(Example());
  const std::pair<const char*, const char*> changes[] = {
      {"\"sequence\": 120", "\"sequence\": 121"},
      {"\"bible\"", "\"babel\""},
      {"\"bytes\": 50", "\"bytes\": 51"},
      {"0000\"", "0001\""}};
  for (const auto& change : changes) {
    const std::string changed = absl::StrReplaceAll(text, {change});
    ASSERT_NE(changed, text);
    EXPECT_TRUE(absl::IsDataLoss(ParseManifest(changed).status()))
        << change.second;
  }
}

TEST(ManifestTest, NoTextButAManifestIsRead) {
  const std::string text = SerializeManifest(Example());
  for (size_t size = 0; size + 2 < text.size(); ++size) {
    EXPECT_FALSE(ParseManifest(text.substr(0, size)).ok()) << size;
  }
  EXPECT_THAT(
      std::string(ParseManifest(absl::StrReplaceAll(text, {{"nt/1", "nt/9"}}))
                      .status()
                      .message()),
      HasSubstr("format is not skerry.checkpoint/1"));
}

Manifest ProgramExample() {
  Manifest manifest = Example();
  manifest.layout_hash = 0xab;
  manifest.samples = 8;
  manifest.order = SampleOrder{"", 3, 0, "imagenet", 1281167};
  manifest.consumed = {{0, 8}};
  return manifest;
}

TEST(ManifestTest, AProgramsCheckpointHasAFormatOfItsOwn) {
  const std::string text = SerializeManifest(ProgramExample());
  EXPECT_THAT(text, HasSubstr("\"skerry.checkpoint/2\""));
  EXPECT_THAT(text, HasSubstr("\"layout_hash\": \"00000000000000ab\""));
  EXPECT_THAT(text, HasSubstr("\"data_id\": \"imagenet\""));
  const auto again = ParseManifest(text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, ProgramExample());
  // Every checkpoint of the engine stays readable for older releases.
  EXPECT_THAT(SerializeManifest(Example()),
              HasSubstr("\"skerry.checkpoint/1\""));
}

TEST(ManifestTest, DataOfTheOtherKindOfJobAreRefused) {
  Manifest manifest = ProgramExample();
  manifest.order->data_sha256 = std::string(64, 'a');
  EXPECT_TRUE(absl::IsInvalidArgument(ValidateManifest(manifest)));
  manifest = ProgramExample();
  manifest.layout_hash.reset();
  manifest.order->data_sha256 = std::string(64, 'a');
  EXPECT_TRUE(absl::IsInvalidArgument(ValidateManifest(manifest)));
  manifest.order->data_id.clear();
  manifest.order->data_samples = 0;
  EXPECT_TRUE(ValidateManifest(manifest).ok());
}

TEST(ManifestTest, EveryMistakeIsNamed) {
  const auto refusal = [](const std::function<void(Manifest&)>& spoil) {
    Manifest manifest = Example();
    spoil(manifest);
    return std::string(ValidateManifest(manifest).message());
  };
  EXPECT_THAT(refusal([](Manifest& m) { m.job.clear(); }), HasSubstr("no job"));
  for (const char* name : {"../x", "", ".x", "a/b", "skerry-checkpoint.json"}) {
    EXPECT_THAT(refusal([&](Manifest& m) { m.files[0].file = name; }),
                HasSubstr("no name beside"));
  }
  EXPECT_THAT(refusal([](Manifest& m) { m.files[1] = m.files[0]; }),
              HasSubstr("model.safetensors twice"));
  EXPECT_THAT(refusal([](Manifest& m) { m.files[1].sha256[5] = 'G'; }),
              HasSubstr("config.json has a malformed"));
}

TEST(ManifestTest, TheSamplesAreReadBackAndHaveToAddUp) {
  Manifest manifest = Example();
  manifest.order = SampleOrder{std::string(64, 'd'), 3, 64};
  manifest.consumed = {{0, 9000}, {10000, 10600}};
  const auto again = ParseManifest(SerializeManifest(manifest));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, manifest);
  manifest.consumed = {{0, 9000}};
  EXPECT_THAT(std::string(ValidateManifest(manifest).message()),
              HasSubstr("consumed holds 9000 samples, not 9600"));
  manifest.consumed = {{9000, 9600}, {0, 9000}};
  EXPECT_THAT(std::string(ValidateManifest(manifest).message()),
              HasSubstr("does not ascend"));
  manifest.consumed = {{0, 9600}};
  manifest.order.reset();
  EXPECT_FALSE(ValidateManifest(manifest).ok());
}

}  // namespace
}  // namespace skerry::checkpoint
