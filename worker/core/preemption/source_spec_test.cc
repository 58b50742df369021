#include "worker/core/preemption/source_spec.h"

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

TEST(SourceSpecTest, FourFormsAreRead) {
  EXPECT_EQ(ReadNoticeSource("aws")->kind, NoticeSourceKind::kAws);
  EXPECT_EQ(ReadNoticeSource("gcp")->kind, NoticeSourceKind::kGcp);
  EXPECT_EQ(ReadNoticeSource("azure")->kind, NoticeSourceKind::kAzure);
  const auto file = ReadNoticeSource("file:/run/a file:x");
  EXPECT_EQ(file->kind, NoticeSourceKind::kFile);
  EXPECT_EQ(file->path, "/run/a file:x");
  EXPECT_EQ(file->name, "file:/run/a file:x");
}

TEST(SourceSpecTest, OthersAreRefusedWithTheFormsThatThereAre) {
  for (const char* text : {"", "AWS", "aws ", "file", "file:", "/run/x"}) {
    EXPECT_EQ(ReadNoticeSource(text).status().message(),
              std::string("has to be aws, gcp, azure or file:PATH, not \"") +
                  text + "\"");
  }
}

TEST(SourceSpecTest, AnEndpointIsAUrlWithoutASlashAtItsEnd) {
  for (const char* url :
       {kMetadataEndpoint, "http://127.0.0.1:8080", "http://[fd00:ec2::254]",
        "http://metadata.google.internal", "http://proxy:80/cloud"}) {
    EXPECT_TRUE(CheckMetadataEndpoint(url).ok()) << url;
  }
  for (const char* url : {"", "127.0.0.1", "https://a", "http://", "http:///a",
                          "http://a/", "http://a b", "http://a?b", "http://a#b",
                          "http://u@a", "http://a\n", "file:///etc/passwd"}) {
    EXPECT_FALSE(CheckMetadataEndpoint(url).ok()) << url;
  }
}

}  // namespace
}  // namespace skerry::worker
