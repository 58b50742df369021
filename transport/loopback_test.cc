#include "transport/loopback.h"

#include <gtest/gtest.h>

namespace skerry::transport {
namespace {

TEST(RequireLoopbackTest, AddressesThatStayOnThisMachinePass) {
  for (const char* address :
       {"127.0.0.1:7443", "127.9.8.7:0", "localhost:1", "[::1]:7443",
        "unix:/run/skerry.sock", "unix-abstract:skerry"}) {
    EXPECT_TRUE(RequireLoopback(address).ok()) << address;
  }
}

TEST(RequireLoopbackTest, EverythingElseIsRefusedWithTheAddressAndTheWayOut) {
  for (const char* address :
       {"0.0.0.0:7443", "[::]:7443", "10.0.0.1:7443", "worker-1:7443",
        "localhost.evil.example:1", "1270.0.1:5"}) {
    const absl::Status status = RequireLoopback(address);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_NE(status.message().find(address), absl::string_view::npos);
    EXPECT_NE(status.message().find("certificate"), absl::string_view::npos);
  }
}

TEST(CheckListenTest, WhoMayLeaveTheMachineListensAnywhere) {
  EXPECT_TRUE(CheckListen("0.0.0.0:7443", true).ok());
  EXPECT_TRUE(CheckListen("127.0.0.1:0", false).ok());
  EXPECT_FALSE(CheckListen("0.0.0.0:7443", false).ok());
  EXPECT_FALSE(CheckListen("0.0.0.0", true).ok());
}

TEST(RequireLoopbackTest, WhatIsNoAddressIsRefused) {
  for (const char* address : {"127.0.0.1", "127.0.0.1:", "127.0.0.1:99999",
                              "::1:7443", "unix:", "", "dns:///localhost:1"}) {
    EXPECT_EQ(RequireLoopback(address).code(),
              absl::StatusCode::kInvalidArgument)
        << address;
  }
}

}  // namespace
}  // namespace skerry::transport
