#include "runtime/s3/credentials.h"

#include <map>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "runtime/s3/profile_file.h"

namespace skerry::runtime::s3 {
namespace {

using Texts = std::map<std::string, std::string>;

Lookup In(const Texts& texts) {
  return [texts](const std::string& name) -> std::optional<std::string> {
    const auto found = texts.find(name);
    if (found == texts.end()) return std::nullopt;
    return found->second;
  };
}

constexpr char kKeys[] =
    "# mine\n[default]\naws_access_key_id = id-d\naws_secret_access_key=s-d\n"
    "[lab]\n  indented = 1\naws_access_key_id=id-l\nAWS_SECRET_ACCESS_KEY = "
    "s=l\naws_session_token=t-l\n";
constexpr char kConfig[] =
    "[default]\nregion = eu-north-1\n[profile lab]\nendpoint_url = "
    "http://10.0.0.1:9000/\nregion=lab\nca_bundle = /etc/lab.pem\n";
const Texts kFiles = {{"/root/.aws/credentials", kKeys},
                      {"/root/.aws/config", kConfig}};

TEST(CredentialsTest, TheEnvironmentComesFirst) {
  const auto found = FindSettings("",
                                  In({{"AWS_ACCESS_KEY_ID", "id"},
                                      {"AWS_SECRET_ACCESS_KEY", "s"},
                                      {"AWS_SESSION_TOKEN", "t"},
                                      {"AWS_REGION", "us-west-2"},
                                      {"HOME", "/root"}}),
                                  In({}));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->credentials.access_key, "id");
  EXPECT_EQ(found->credentials.secret_key, "s");
  EXPECT_EQ(found->credentials.session_token, "t");
  EXPECT_EQ(found->region, "us-west-2");
  EXPECT_EQ(found->endpoint, "https://s3.us-west-2.amazonaws.com");
}

TEST(CredentialsTest, ANamedProfileIsReadFromTheFiles) {
  const auto found = FindSettings("lab",
                                  In({{"AWS_ACCESS_KEY_ID", "id"},
                                      {"AWS_SECRET_ACCESS_KEY", "s"},
                                      {"HOME", "/root"}}),
                                  In(kFiles));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->credentials.access_key, "id-l");
  EXPECT_EQ(found->credentials.secret_key, "s=l");
  EXPECT_EQ(found->credentials.session_token, "t-l");
  EXPECT_EQ(found->region, "lab");
  EXPECT_EQ(found->endpoint, "http://10.0.0.1:9000");
  EXPECT_EQ(found->ca_file, "/etc/lab.pem");
}

TEST(CredentialsTest, WithoutAnyTheDefaultProfileIsTaken) {
  const auto found = FindSettings("", In({{"HOME", "/root"}}), In(kFiles));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->credentials.access_key, "id-d");
  EXPECT_EQ(found->endpoint, "https://s3.eu-north-1.amazonaws.com");
}

TEST(CredentialsTest, VariablesNameOtherFilesAndProfiles) {
  const auto found = FindSettings("",
                                  In({{"AWS_PROFILE", "other"},
                                      {"AWS_SHARED_CREDENTIALS_FILE", "/keys"},
                                      {"AWS_ENDPOINT_URL", "http://a"},
                                      {"AWS_ENDPOINT_URL_S3", "http://b"}}),
                                  In({{"/keys",
                                       "[other]\naws_access_key_id=a\n"
                                       "aws_secret_access_key=b\n"}}));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->credentials.access_key, "a");
  EXPECT_EQ(found->endpoint, "http://b");
  EXPECT_EQ(found->region, "us-east-1");
}

TEST(CredentialsTest, WhereKeysAreMissingOneLineSaysWhereToPutThem) {
  const auto found = FindSettings("none", In({{"HOME", "/root"}}), In(kFiles));
  EXPECT_TRUE(absl::IsFailedPrecondition(found.status()));
  EXPECT_TRUE(absl::StrContains(found.status().message(),
                                "under [none] of /root/.aws/credentials"))
      << found.status();
}

TEST(CredentialsTest, AnEndpointThatCannotBeIsRefused) {
  for (const char* endpoint : {"store:9000", "ftp://store", "http://",
                               "http://a/b", "http://a@b", "http://a b"}) {
    const auto found = FindSettings("",
                                    In({{"AWS_ACCESS_KEY_ID", "id"},
                                        {"AWS_SECRET_ACCESS_KEY", "s"},
                                        {"AWS_ENDPOINT_URL", endpoint}}),
                                    In({}));
    EXPECT_TRUE(absl::IsInvalidArgument(found.status())) << endpoint;
  }
}

TEST(ProfileFileTest, LinesOfNoFormAreLeftOut) {
  const auto profiles =
      ReadProfiles("a = 1\n[open\nb = 2\n[c]\r\nd\n= 3\nd = 4\nd = 5\n[]\n");
  EXPECT_EQ(profiles.size(), 2u);
  EXPECT_EQ(profiles.at("c").at("d"), "5");
}

}  // namespace
}  // namespace skerry::runtime::s3
