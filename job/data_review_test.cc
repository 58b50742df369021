#include "job/data_review.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "job/review.h"
#include "job/testing/specs.h"

namespace skerry::job {
namespace {

class DataReviewTest : public testing::Test {
 protected:
  std::string Problem() {
    SpecProblems problems;
    ReviewData(spec_, facts_, warnings_, problems);
    return std::string(problems.ToStatus().message());
  }

  JobSpec spec_ = ReviewJobSpec(SmallJob("job", 100)).value().spec;
  DataFacts facts_ = {"/data/text", "", std::string(64, 'a'), 256, 1000, 100};
  std::vector<std::string> warnings_;
};

TEST_F(DataReviewTest, ASetThatFitsIsTaken) {
  facts_.training_tokens = 65;
  facts_.validation_tokens = 0;
  EXPECT_EQ(Problem(), "");
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(DataReviewTest, AnotherManifestIsRefusedWithBothHashes) {
  facts_.manifest_sha256 = std::string(64, 'b');
  EXPECT_EQ(Problem(),
            "data.manifest_sha256: is " + std::string(64, 'a') +
                ", and /data/text/manifest.json has " + std::string(64, 'b') +
                "; leave it out to take the set that is there, or copy the set "
                "that was meant");
}

TEST_F(DataReviewTest, AVocabularyBelowTheDatasIsRefusedWithBothSizes) {
  facts_.vocabulary = 257;
  EXPECT_EQ(Problem(),
            "model.config_json: has a vocab_size of 256, and the tokens of "
            "/data/text reach to 257; prepare the data with the model's "
            "tokenizer");
}

TEST_F(DataReviewTest, ASetShorterThanASampleIsRefusedWithBothNumbers) {
  facts_.training_tokens = 64;
  EXPECT_EQ(Problem(),
            "data.sequence_tokens: is 64, so one sample needs 65 tokens, and "
            "/data/text has 64 for training; lower it, or prepare more text");
}

TEST_F(DataReviewTest, AShortValidationSplitIsOnlyWarnedOf) {
  facts_.validation_tokens = 10;
  EXPECT_EQ(Problem(), "");
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(warnings_[0],
            "data.sequence_tokens: is 64, and /data/text has 10 tokens for "
            "validation, fewer than one sample");
}

TEST_F(DataReviewTest, AFolderThatCannotBeReadIsToldAsItIs) {
  facts_ = {
      "/data/text", "/data/text/manifest.json: no such file", "", 0, 0, 0};
  EXPECT_EQ(Problem(), "data.path: /data/text/manifest.json: no such file");
}

}  // namespace
}  // namespace skerry::job
