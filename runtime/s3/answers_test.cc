#include "runtime/s3/answers.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::runtime::s3 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(AnswersTest, AListOfKeysIsRead) {
  const auto page = ReadKeyPage(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
      "<Name>models</Name><Prefix>a</Prefix><KeyCount>2</KeyCount>"
      "<IsTruncated>true</IsTruncated>"
      "<Contents><Key>a/1&amp;2</Key><Size>3</Size></Contents>"
      "<Contents><Size>3</Size><Key>a/b</Key></Contents>"
      "<CommonPrefixes><Prefix>a/c/</Prefix></CommonPrefixes>"
      "<NextContinuationToken>t1</NextContinuationToken>"
      "</ListBucketResult>");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(page->keys, ElementsAre("a/1&2", "a/b"));
  EXPECT_EQ(page->next, "t1");
}

TEST(AnswersTest, TheLastPageHasNoNext) {
  const auto page = ReadKeyPage(
      "<ListBucketResult><IsTruncated>false</IsTruncated>"
      "<NextContinuationToken>t1</NextContinuationToken></ListBucketResult>");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(page->keys, IsEmpty());
  EXPECT_EQ(page->next, "");
}

// Asking for it would begin again, for ever.
TEST(AnswersTest, APageThatNamesNoNextIsRefused) {
  EXPECT_TRUE(absl::IsDataLoss(
      ReadKeyPage("<ListBucketResult><IsTruncated>true</IsTruncated>"
                  "</ListBucketResult>")
          .status()));
}

TEST(AnswersTest, UploadsAreRead) {
  const auto page = ReadUploadPage(
      "<ListMultipartUploadsResult><Upload><Key>a</Key><UploadId>1</UploadId>"
      "<Initiator><ID>x</ID></Initiator></Upload><Upload><UploadId>2</UploadId>"
      "<Key>b</Key></Upload><IsTruncated>false</IsTruncated>"
      "</ListMultipartUploadsResult>");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(page->uploads, ElementsAre(UploadPage::Upload{"a", "1"},
                                         UploadPage::Upload{"b", "2"}));
  EXPECT_EQ(page->next_key, "");
}

TEST(AnswersTest, FailuresAreRead) {
  const auto failure = ReadFailure(
      "<Error><Code>NoSuchKey</Code><Message>not here</Message></Error>");
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->code, "NoSuchKey");
  EXPECT_EQ(failure->message, "not here");
  EXPECT_FALSE(ReadFailure("").has_value());
  EXPECT_FALSE(ReadFailure("<html>502</html>").has_value());
}

TEST(AnswersTest, OtherDocumentsAreRefused) {
  for (const std::string xml :
       {"", "no xml", "<ListBucketResult>", "<Other/>",
        "<a><ListBucketResult/></a>",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><ListBucketResult/>"}) {
    EXPECT_TRUE(absl::IsDataLoss(ReadKeyPage(xml).status())) << xml;
    EXPECT_TRUE(absl::IsDataLoss(ReadUploadPage(xml).status())) << xml;
    EXPECT_TRUE(absl::IsDataLoss(ReadUploadId(xml).status())) << xml;
  }
  std::string deep = "<ListBucketResult>";
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  EXPECT_TRUE(absl::IsDataLoss(ReadKeyPage(deep).status()));
  EXPECT_TRUE(absl::IsDataLoss(
      ReadUploadId("<InitiateMultipartUploadResult/>").status()));
}

}  // namespace
}  // namespace skerry::runtime::s3
