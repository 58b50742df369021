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

}  // namespace
}  // namespace skerry::transport
