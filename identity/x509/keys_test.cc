#include "identity/x509/keys.h"

#include <openssl/pem.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::identity {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

TEST(KeysTest, AKeyIsReadAsItIsWritten) {
  const absl::StatusOr<PrivateKey> key = PrivateKey::Make();
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_THAT(key->Pem(), HasSubstr("-----BEGIN PRIVATE KEY-----"));
  const absl::StatusOr<PrivateKey> read = PrivateKey::FromPem(key->Pem());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->Public().Sha256(), key->Public().Sha256());
  EXPECT_THAT(key->Public().Sha256(), MatchesRegex("[0-9a-f]{64}"));
}

TEST(KeysTest, NoTwoKeysAreTheSame) {
  EXPECT_NE(PrivateKey::Make()->Public().Sha256(),
            PrivateKey::Make()->Public().Sha256());
}

TEST(KeysTest, OtherKindsAndTextsAreRefusedWithoutShowingThem) {
  const KeyPtr rsa(EVP_RSA_gen(2048));
  const BioPtr plain = WriteToMemory();
  PEM_write_bio_PKCS8PrivateKey(plain.get(), rsa.get(), nullptr, nullptr, 0,
                                nullptr, nullptr);
  char password[] = "canary";
  const BioPtr locked = WriteToMemory();
  PEM_write_bio_PKCS8PrivateKey(locked.get(), PrivateKey::Make()->get(),
                                EVP_aes_256_cbc(), password, 6, nullptr,
                                nullptr);
  std::string torn = PrivateKey::Make()->Pem();
  torn.resize(torn.size() / 2);
  for (const std::string& other :
       {std::string(), std::string("canary"), torn, TextOf(plain),
        TextOf(locked), std::string(1 << 20, 'x')}) {
    const absl::Status refused = PrivateKey::FromPem(other).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("canary")));
    EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace skerry::identity
