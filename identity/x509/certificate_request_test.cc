#include "identity/x509/certificate_request.h"

#include <string>

#include "gtest/gtest.h"

namespace skerry::identity {
namespace {

TEST(CertificateRequestTest, OnlyTheKeyIsTaken) {
  const absl::StatusOr<PrivateKey> key = PrivateKey::Make();
  const absl::StatusOr<std::string> request = MakeRequest(*key);
  ASSERT_TRUE(request.ok()) << request.status();
  const absl::StatusOr<PublicKey> read = KeyOfRequest(*request);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->Sha256(), key->Public().Sha256());
}

TEST(CertificateRequestTest, ASignatureOfAnotherKeyIsRefused) {
  std::string request = *MakeRequest(*PrivateKey::Make());
  // The last byte is of the signature.
  request.back() = static_cast<char>(request.back() ^ 1);
  EXPECT_TRUE(absl::IsInvalidArgument(KeyOfRequest(request).status()));
}

TEST(CertificateRequestTest, OtherBytesAreRefused) {
  const std::string request = *MakeRequest(*PrivateKey::Make());
  for (const std::string& other :
       {std::string(), std::string("x"), request + "x",
        request.substr(0, request.size() / 2), std::string(1 << 20, '\0')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(KeyOfRequest(other).status()));
  }
}

}  // namespace
}  // namespace skerry::identity
