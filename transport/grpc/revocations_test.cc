#include "transport/grpc/revocations.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::transport {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(RevocationsTest, AListHasNamesAndSerialNumbers) {
  const auto list = ParseRevokedList(
      "# stolen\n"
      "spiffe://lab/island/west/worker/w1  # the old machine\n"
      "\n"
      "00a1b2\r\n");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_THAT(*list, ElementsAre("A1B2", "spiffe://lab/island/west/worker/w1"));
  Revocations revocations;
  EXPECT_FALSE(revocations.Contain("", ""));
  revocations.Set(*list);
  EXPECT_TRUE(revocations.Contain("spiffe://lab/coordinator", "A1B2"));
  EXPECT_TRUE(revocations.Contain("spiffe://lab/island/west/worker/w1", "1"));
  EXPECT_FALSE(revocations.Contain("spiffe://lab/coordinator", "1"));
}

TEST(RevocationsTest, ACertificateIsRevokedThatOneOfTheListsHas) {
  Revocations revocations;
  revocations.Set({"A1"});
  revocations.SetOfCluster({"B2"});
  EXPECT_TRUE(revocations.Contain("", "A1"));
  EXPECT_TRUE(revocations.Contain("", "B2"));
  revocations.SetOfCluster({});
  EXPECT_TRUE(revocations.Contain("", "A1"));
  EXPECT_FALSE(revocations.Contain("", "B2"));
}

TEST(RevocationsTest, ALineThatIsNeitherIsShown) {
  for (const char* wrong : {"w1", "spiffe://lab/w1", "0", "12:34"}) {
    const auto list = ParseRevokedList(std::string("A1\n") + wrong + "\n");
    EXPECT_THAT(list.status().ToString(), HasSubstr("line 2: ")) << wrong;
  }
}

}  // namespace
}  // namespace skerry::transport
