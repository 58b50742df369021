#include "base/s3_location.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace skerry {
namespace {

TEST(S3LocationTest, BucketPrefixAndProfileAreRead) {
  const auto plain = ParseS3Location("s3://models/runs/a=1/");
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->profile, "");
  EXPECT_EQ(plain->bucket, "models");
  EXPECT_EQ(plain->prefix, "runs/a=1");
  const auto other = ParseS3Location("s3://lab@models");
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->profile, "lab");
  EXPECT_EQ(other->bucket, "models");
  EXPECT_EQ(other->prefix, "");
}

TEST(S3LocationTest, OthersAreRefusedInOneLineThatNamesThem) {
  for (const std::string place :
       {"/folder", "s3:/models", "s3://", "s3:///runs", "s3://ab/x",
        "s3://a b/x", "s3://@models/x", "s3://a/b@models/x", "s3://models//x",
        "s3://models/../x", "s3://models/a b", "s3://models/a?b",
        "s3://models/a\nb", "s3://-models/x"}) {
    const auto read = ParseS3Location(place);
    EXPECT_TRUE(absl::IsInvalidArgument(read.status())) << place;
    EXPECT_TRUE(absl::StartsWith(read.status().message(), place)) << place;
  }
}

}  // namespace
}  // namespace skerry
