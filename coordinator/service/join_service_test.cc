#include "coordinator/service/join_service.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

TEST(JoinServiceTest, TheHostOfACallerIsNamedWithoutItsPort) {
  EXPECT_EQ(HostOfPeer("ipv4:10.0.0.7:51234"), "10.0.0.7");
  EXPECT_EQ(HostOfPeer("ipv6:%5Bfd00::7%5D:51234"), "fd00::7");
  EXPECT_EQ(HostOfPeer("ipv6:[::1]:51234"), "::1");
  EXPECT_EQ(HostOfPeer("unix:/run/socket"), "unix:/run/socket");
  EXPECT_EQ(HostOfPeer(""), "");
}

}  // namespace
}  // namespace skerry::coordinator
