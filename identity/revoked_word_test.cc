#include "identity/revoked_word.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::identity {
namespace {

TEST(RevokedWordTest, ANameIsTakenAsItIs) {
  const char* const name = "spiffe://lab/island/west/worker/w1";
  EXPECT_EQ(*RevokedWord(name), name);
}

TEST(RevokedWordTest, ASerialNumberIsAsCertificatesShowIt) {
  EXPECT_EQ(*RevokedWord("00a1b2"), "A1B2");
}

TEST(RevokedWordTest, EverythingElseIsRefused) {
  for (const std::string& wrong :
       {std::string("w1"), std::string("spiffe://lab/w1"), std::string("0"),
        std::string(), std::string("12:34"), std::string(41, 'A')}) {
    EXPECT_THAT(RevokedWord(wrong).status().ToString(),
                testing::HasSubstr("is neither a name"))
        << wrong;
  }
}

}  // namespace
}  // namespace skerry::identity
