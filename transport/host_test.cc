#include "transport/host.h"

#include <string>

#include "gtest/gtest.h"

namespace skerry::transport {
namespace {

TEST(CheckHostTest, NamesAndAddressesPassAndEveryRefusalSaysWhatToWrite) {
  for (const char* host :
       {"127.0.0.1", "localhost", "worker-1.example", "::1", "2001:db8::7"}) {
    EXPECT_TRUE(CheckHost(host).ok()) << host;
  }
  const struct {
    std::string host;
    const char* message;
  } cases[] = {
      {"", "\"\" is no host: it has to have 1 to 253 characters"},
      {"127.0.0.1:7443",
       "\"127.0.0.1:7443\" is no host: write a name or an IP address, without "
       "a port"},
      {"[::1]",
       "\"[::1]\" is no host: write a name or an IP address, without a port"},
      {"fe80::1%eth0",
       "\"fe80::1%eth0\" is no host: write a name or an IP address, without a "
       "port"},
      {"0.0.0.0",
       "\"0.0.0.0\" stands for every address of a machine: write the one that "
       "others connect to"},
      {"::",
       "\"::\" stands for every address of a machine: write the one that "
       "others connect to"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(CheckHost(one.host).message(), one.message);
  }
  EXPECT_FALSE(CheckHost(std::string(254, 'a')).ok());
}

TEST(WithPortTest, OnlyAnIPv6AddressStandsInBrackets) {
  EXPECT_EQ(WithPort("127.0.0.1", 7443), "127.0.0.1:7443");
  EXPECT_EQ(WithPort("::1", 1), "[::1]:1");
}

}  // namespace
}  // namespace skerry::transport
