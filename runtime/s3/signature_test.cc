#include "runtime/s3/signature.h"

#include "absl/strings/match.h"
#include "base/sha256.h"
#include "gtest/gtest.h"

namespace skerry::runtime::s3 {
namespace {

// The examples of the Amazon S3 API Reference, "Signature Calculations for the
// Authorization Header".
constexpr char kOfNothing[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const Credentials kExample{"AKIAIOSFODNN7EXAMPLE",
                           "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};

std::string SignatureOf(const ToSign& request) {
  const auto headers = SignedHeaders(request, kExample, "us-east-1",
                                     absl::FromUnixSeconds(1369353600));
  for (const auto& [name, value] : headers) {
    if (name != "authorization") continue;
    const size_t at = value.find("Signature=");
    return value.substr(at + sizeof("Signature=") - 1);
  }
  return "";
}

TEST(SignatureTest, IsThatOfThePublishedExamples) {
  ToSign request{.method = "GET",
                 .host = "examplebucket.s3.amazonaws.com",
                 .path = "/test.txt",
                 .query = {},
                 .headers = {{"range", "bytes=0-9"}},
                 .payload_sha256 = kOfNothing};
  EXPECT_EQ(SignatureOf(request),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");

  request.headers.clear();
  request.path = "/";
  request.query = {{"lifecycle", ""}};
  EXPECT_EQ(SignatureOf(request),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");

  request.query = {{"max-keys", "2"}, {"prefix", "J"}};
  EXPECT_EQ(SignatureOf(request),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");

  const std::string body = "Welcome to Amazon S3.";
  const ToSign put{.method = "PUT",
                   .host = "examplebucket.s3.amazonaws.com",
                   .path = "/" + UriEncoded("test$file.text", true),
                   .query = {},
                   .headers = {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                               {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                   .payload_sha256 = Sha256Hex(std::as_bytes(std::span(body)))};
  EXPECT_EQ(SignatureOf(put),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(SignatureTest, ATemporarySessionSendsAndSignsItsToken) {
  Credentials session = kExample;
  session.session_token = "token";
  const auto headers = SignedHeaders({.method = "GET",
                                      .host = "h",
                                      .path = "/",
                                      .query = {},
                                      .headers = {},
                                      .payload_sha256 = kOfNothing},
                                     session, "r", absl::UnixEpoch());
  bool sent = false;
  bool is_signed = false;
  for (const auto& [name, value] : headers) {
    sent |= name == "x-amz-security-token" && value == "token";
    is_signed |= name == "authorization" &&
                 absl::StrContains(value, "x-amz-security-token");
    EXPECT_FALSE(absl::StrContains(value, session.secret_key));
  }
  EXPECT_TRUE(sent);
  EXPECT_TRUE(is_signed);
}

TEST(SignatureTest, BytesAreEncodedAsTheStoreDecodesThem) {
  EXPECT_EQ(UriEncoded("a/b c=\xC3\xA4~", true), "a/b%20c%3D%C3%A4~");
  EXPECT_EQ(UriEncoded("a/b", false), "a%2Fb");
}

}  // namespace
}  // namespace skerry::runtime::s3
