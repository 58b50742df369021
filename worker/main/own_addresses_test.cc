#include "worker/main/own_addresses.h"

#include <gtest/gtest.h>

namespace skerry::worker {
namespace {

using Words = std::vector<std::string>;

TEST(OwnAddressesTest, WithoutAnyItIsWhereItListens) {
  const OwnAddresses own = AddressesOf({}, "10.0.0.1:0", "10.0.0.1:7444");
  EXPECT_EQ(own.outside, Words{"10.0.0.1:7444"});
  EXPECT_EQ(own.inside, "10.0.0.1:7444");
}

TEST(OwnAddressesTest, TheOrderOfThoseThatAreNamedIsKept) {
  const Words named = {"203.0.113.7:7444", "[2001:db8::7]:7444"};
  const OwnAddresses own = AddressesOf(named, "10.0.0.1:0", "10.0.0.1:7444");
  EXPECT_EQ(own.outside, named);
  EXPECT_EQ(own.inside, "10.0.0.1:7444");
  EXPECT_EQ(AddressesOf(named, "0.0.0.0:0", "0.0.0.0:7444").inside, named[0]);
}

TEST(OwnAddressesTest, WhoListensEverywhereIsFoundHereByItsOwnMachine) {
  const OwnAddresses own = AddressesOf({}, "[::]:0", "[::]:7444");
  EXPECT_EQ(own.outside, Words{"127.0.0.1:7444"});
  EXPECT_EQ(own.inside, "127.0.0.1:7444");
}

}  // namespace
}  // namespace skerry::worker
