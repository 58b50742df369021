#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "protocol/peers.h"
#include "transport/grpc/testing/bulk_nodes.h"
#include "transport/testing/frames.h"

namespace skerry::transport {
namespace {

// Nobody listens on port 1 of this machine.
constexpr char kNowhere[] = "127.0.0.1:1";

// Worker "b" has two endpoints, and the preferred one leads nowhere.
class EndpointsTest : public BulkNodesTest {
 protected:
  EndpointsTest() : a_(Make("a", "a")), b_(Make("b", "b")) {
    loop_.Run([this] {
      a_.credentials->peers().Set(b_.bulk->address(), "b");
      a_.directory.Learn({{"b", {kNowhere, b_.bulk->address()}}});
    });
  }
  Node& a_;
  Node& b_;
};

TEST_F(EndpointsTest, FramesGoToTheNextWhenOneLeadsNowhere) {
  EXPECT_TRUE(Send(a_, b_, MakeFrame(1, 0, 1000)).get().ok());
  loop_.Run(
      [this] { EXPECT_EQ(a_.directory.EndpointOf("b"), b_.bulk->address()); });
  log_.AwaitOne("bulk.endpoint.failed", kNowhere);
}

// It opens the streams on which b sends.
TEST_F(EndpointsTest, SoDoStreamsThatAreOpenedInReverse) {
  loop_.Run([this] {
    b_.directory.Learn({{"a", {protocol::kReverse, kNowhere}}});
    a_.directory.SetAwaitedBy({"b"});
  });
  EXPECT_TRUE(Send(b_, a_, MakeFrame(1, 0, 1000)).get().ok());
}

}  // namespace
}  // namespace skerry::transport
