#include "transport/grpc/plain_cause.h"

#include <gtest/gtest.h>

namespace skerry::transport {
namespace {

TEST(PlainCauseTest, OnlyTheInnermostCauseOfAConnectionIsTold) {
  EXPECT_EQ(PlainCause("failed to connect to all addresses; last error: "
                       "UNKNOWN: ipv4:127.0.0.1:1: Failed to connect to remote "
                       "host: Connection refused"),
            "Connection refused");
  EXPECT_EQ(PlainCause("DNS resolution failed for nowhere:1: C-ares status is "
                       "not ARES_SUCCESS qtype=A name=nowhere is_balancer=0: "
                       "Domain name not found"),
            "Domain name not found");
}

TEST(PlainCauseTest, OtherTextsStay) {
  EXPECT_EQ(PlainCause("the coordinator stops: later"),
            "the coordinator stops: later");
  EXPECT_EQ(PlainCause("failed to connect to all addresses"),
            "failed to connect to all addresses");
}

TEST(PlainCauseTest, HandshakesHaveCausesForOperators) {
  EXPECT_EQ(
      PlainCause("failed to connect to all addresses; last error: "
                 "UNKNOWN: ipv4:127.0.0.1:1: Tls handshake failed: "
                 "SSL_ERROR_SSL: error:0A000086:SSL routines::certificate "
                 "verify failed"),
      "the other end's certificate is not of this cluster's CA, or is "
      "not valid at this time");
  EXPECT_EQ(HandshakeCause("Handshake failed with fatal error SSL_ERROR_SSL: "
                           "error:0A0000C1:SSL routines::no shared cipher."),
            "the other end does not offer TLS 1.3");
  EXPECT_EQ(HandshakeCause("Handshake failed with fatal error X"),
            "Handshake failed with fatal error X");
  EXPECT_FALSE(HandshakeCause("a channel broke").has_value());
}

}  // namespace
}  // namespace skerry::transport
