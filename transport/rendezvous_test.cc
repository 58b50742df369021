#include "transport/rendezvous.h"

#include <string>

#include "gtest/gtest.h"

namespace skerry::transport {
namespace {

TcpRendezvous Tcp(const std::string& endpoint) {
  TcpRendezvous tcp{endpoint};
  for (size_t i = 0; i < tcp.secret.size(); ++i) {
    tcp.secret[i] = static_cast<std::byte>(i * 37);
  }
  return tcp;
}

TEST(RendezvousTest, WhatIsEncodedIsDecoded) {
  for (const Rendezvous& one :
       {Rendezvous(ShmRendezvous{"/skerry-1"}), Rendezvous(Tcp("10.0.0.7:1")),
        Rendezvous(Tcp("node-1.example:65535")), Rendezvous(Tcp("[::1]:80"))}) {
    const auto decoded = DecodeRendezvous(EncodeRendezvous(one));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, one);
  }
}

TEST(RendezvousTest, NothingElseIsTakenAndNoMessageHasTheSecret) {
  const std::string good = EncodeRendezvous(Tcp("10.0.0.7:1"));
  const std::string secret = good.substr(good.rfind(' ') + 1);
  for (const std::string& bad :
       {std::string(), std::string("skerry-group 1 shm"),
        std::string("skerry-group 1 shm /a /b"),
        std::string("skerry-group 2 shm /a"), std::string("x 1 shm /a"),
        std::string("skerry-group 1 nccl /a"), good + " more",
        good.substr(0, good.size() - 1), good + "0",
        "skerry-group 1 tcp 10.0.0.7 " + secret,
        "skerry-group 1 tcp unix:/a " + secret,
        "skerry-group 1 tcp 0.0.0.0:80 " + secret,
        "skerry-group 1 tcp 10.0.0.7:1 X" + secret.substr(1),
        "skerry-group 1 shm /" + std::string(600, 'a')}) {
    const auto decoded = DecodeRendezvous(bad);
    EXPECT_TRUE(absl::IsInvalidArgument(decoded.status())) << bad;
    EXPECT_EQ(decoded.status().ToString().find(secret.substr(0, 16)),
              std::string::npos);
  }
}

}  // namespace
}  // namespace skerry::transport
