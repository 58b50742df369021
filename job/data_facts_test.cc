#include "job/data_facts.h"

#include "data/manifest.h"
#include "gtest/gtest.h"

namespace skerry::job {
namespace {

TEST(DataFactsTest, AManifestIsCountedBySplit) {
  data::Manifest manifest;
  manifest.tokenizer = "bytes";
  manifest.vocab_size = 257;
  const std::string digest(64, 'a');
  manifest.shards = {{"a", 1000, digest, data::Split::kTrain},
                     {"b", 500, digest, data::Split::kTrain},
                     {"c", 70, digest, data::Split::kValidation}};
  const DataFacts facts =
      DataFactsOf("/data", data::SerializeManifest(manifest));
  EXPECT_EQ(facts.error, "");
  EXPECT_EQ(facts.path, "/data");
  EXPECT_EQ(facts.manifest_sha256.size(), 64u);
  EXPECT_EQ(facts.vocabulary, 257u);
  EXPECT_EQ(facts.training_tokens, 1500u);
  EXPECT_EQ(facts.validation_tokens, 70u);
}

TEST(DataFactsTest, WhatIsNoManifestIsToldWithItsFile) {
  const DataFacts facts = DataFactsOf("/data", "[1]");
  EXPECT_EQ(facts.error.find("/data/manifest.json: "), 0u) << facts.error;
  EXPECT_EQ(facts.manifest_sha256, "");
}

}  // namespace
}  // namespace skerry::job
