#include "transport/address.h"

#include <gtest/gtest.h>

namespace skerry::transport {
namespace {

TEST(CheckAddressTest, HostsPortsAndUnixSocketsPass) {
  for (const char* address :
       {"127.0.0.1:7443", "localhost:1", "worker-1.example:65535", "[::1]:7443",
        "unix:/run/skerry.sock", "unix-abstract:skerry"}) {
    EXPECT_TRUE(CheckAddress(address, AddressUse::kConnect).ok()) << address;
    EXPECT_TRUE(CheckAddress(address, AddressUse::kListen).ok()) << address;
  }
}

TEST(CheckAddressTest, EveryRefusalSaysWhatToWrite) {
  const struct {
    const char* address;
    const char* message;
  } cases[] = {
      {"", "\"\" has no port: write HOST:PORT, as in 127.0.0.1:7443"},
      {"127.0.0.1",
       "\"127.0.0.1\" has no port: write HOST:PORT, as in 127.0.0.1:7443"},
      {"127.0.0.1:",
       "\"127.0.0.1:\" has no port: write HOST:PORT, as in 127.0.0.1:7443"},
      {"[::1]", "\"[::1]\" has no port: write HOST:PORT, as in 127.0.0.1:7443"},
      {":7443", "\":7443\" has no host: write HOST:PORT, as in 127.0.0.1:7443"},
      {"http://127.0.0.1:7443",
       "\"http://127.0.0.1:7443\" is a URL: write HOST:PORT, without "
       "\"http://\""},
      {"127.0.0.1:99999",
       "\"127.0.0.1:99999\" is no HOST:PORT: the port has to be a whole number "
       "from 1 to 65535, not \"99999\""},
      {"127.0.0.1:-1",
       "\"127.0.0.1:-1\" is no HOST:PORT: the port has to be a whole number "
       "from 1 to 65535, not \"-1\""},
      {"127.0.0.1:7443/",
       "\"127.0.0.1:7443/\" is no HOST:PORT: the port has to be a whole number "
       "from 1 to 65535, not \"7443/\""},
      {"::1:7443",
       "\"::1:7443\" is no HOST:PORT: an IPv6 address stands in brackets, as "
       "in [::1]:7443"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(CheckAddress(one.address, AddressUse::kConnect).message(),
              one.message);
  }
}

TEST(IsWildcardTest, OnlyWhatStandsForEveryAddressIsOne) {
  for (const char* all : {"0.0.0.0:7443", "[::]:0"}) {
    EXPECT_TRUE(IsWildcard(all)) << all;
  }
  for (const char* one :
       {"127.0.0.1:7443", "[::1]:7443", "localhost:1", "unix:a"}) {
    EXPECT_FALSE(IsWildcard(one)) << one;
  }
}

TEST(CheckAddressTest, PortZeroIsForListeningOnly) {
  EXPECT_TRUE(CheckAddress("127.0.0.1:0", AddressUse::kListen).ok());
  EXPECT_FALSE(CheckAddress("127.0.0.1:0", AddressUse::kConnect).ok());
}

}  // namespace
}  // namespace skerry::transport
