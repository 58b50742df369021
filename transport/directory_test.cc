#include "transport/directory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/peers.h"

namespace skerry::transport {
namespace {

class DirectoryTest : public testing::Test {
 protected:
  DirectoryTest() {
    directory_.set_on_moved(
        [this](const std::string& worker) { moved_.push_back(worker); });
  }
  Directory directory_;
  std::vector<std::string> moved_;
};

TEST_F(DirectoryTest, TheFirstEndpointIsTheOneToConnectTo) {
  EXPECT_EQ(directory_.EndpointOf("a"), "");
  directory_.Learn({{"a", {"h:1", "h:2"}}, {"b", {"h:3"}}});
  EXPECT_EQ(directory_.EndpointOf("a"), "h:1");
  EXPECT_EQ(directory_.EndpointOf("b"), "h:3");
}

TEST_F(DirectoryTest, OnlyAnotherFirstEndpointIsAMove) {
  directory_.Learn({{"a", {"h:1"}}, {"b", {"h:3"}}});
  EXPECT_EQ(moved_, (std::vector<std::string>{"a", "b"}));
  moved_.clear();
  directory_.Learn({{"a", {"h:1", "h:2"}}, {"b", {"h:3"}}});
  EXPECT_TRUE(moved_.empty());
  directory_.Learn({{"a", {"h:2", "h:1"}}});
  EXPECT_EQ(moved_, std::vector<std::string>{"a"});
  EXPECT_EQ(directory_.EndpointOf("a"), "h:2");
  EXPECT_EQ(directory_.EndpointOf("b"), "h:3");
}

TEST_F(DirectoryTest, TheNextEndpointIsUsedWhenOneFails) {
  directory_.Learn({{"a", {"h:1", "h:2"}}, {"b", {"h:3"}}});
  moved_.clear();
  EXPECT_TRUE(directory_.HasChoice("a"));
  EXPECT_FALSE(directory_.HasChoice("b"));
  EXPECT_FALSE(directory_.HasChoice("nobody"));
  directory_.OnFailed("a", "h:1");
  EXPECT_EQ(directory_.EndpointOf("a"), "h:2");
  EXPECT_EQ(moved_, std::vector<std::string>{"a"});
  // A later call to the former endpoint fails, too.
  directory_.OnFailed("a", "h:1");
  EXPECT_EQ(directory_.EndpointOf("a"), "h:2");
  // What works is kept while orders say the same.
  directory_.Learn({{"a", {"h:1", "h:2"}}});
  EXPECT_EQ(directory_.EndpointOf("a"), "h:2");
  EXPECT_EQ(moved_.size(), 1u);
  directory_.OnFailed("a", "h:2");
  EXPECT_EQ(directory_.EndpointOf("a"), "h:1");
  directory_.OnFailed("b", "h:3");
  EXPECT_EQ(directory_.EndpointOf("b"), "h:3");
}

TEST_F(DirectoryTest, AnotherListBeginsWithItsFirstEndpoint) {
  directory_.Learn({{"a", {"h:1", "h:2"}}});
  directory_.OnFailed("a", "h:1");
  moved_.clear();
  directory_.Learn({{"a", {"h:2", "h:9"}}});
  EXPECT_EQ(directory_.EndpointOf("a"), "h:2");
  EXPECT_TRUE(moved_.empty());
  directory_.OnFailed("a", "h:2");
  directory_.Learn({{"a", {protocol::kReverse, "h:2", "h:9"}}});
  EXPECT_FALSE(directory_.HasChoice("a"));
  directory_.OnFailed("a", "h:2");
  EXPECT_EQ(directory_.EndpointOf("a"), "");
}

TEST_F(DirectoryTest, WhoIsBehindARelayMovesWhenAnEndpointOfThatFails) {
  directory_.Learn(
      {{"a", {protocol::ViaRelay("r"), "h:1"}}, {"r", {"h:2", "h:3"}}});
  moved_.clear();
  directory_.OnFailed("r", "h:2");
  EXPECT_EQ(moved_, (std::vector<std::string>{"r", "a"}));
}

TEST_F(DirectoryTest, AWorkerThatIsNotNamedStaysWhereItWas) {
  directory_.Learn({{"a", {"h:1"}}});
  directory_.Learn({{"b", {"h:2"}}});
  directory_.Learn({{"a", {}}});
  EXPECT_EQ(directory_.EndpointOf("a"), "h:1");
}

TEST_F(DirectoryTest, AWorkerThatIsReachedInReverseHasNoEndpoint) {
  directory_.Learn({{"a", {"h:1"}}});
  moved_.clear();
  directory_.Learn({{"a", {protocol::kReverse, "h:1"}}});
  EXPECT_EQ(moved_, std::vector<std::string>{"a"});
  EXPECT_TRUE(directory_.IsReverse("a"));
  EXPECT_EQ(directory_.EndpointOf("a"), "");
  EXPECT_FALSE(directory_.IsReverse("b"));
}

TEST_F(DirectoryTest, OnlyOtherWaitingWorkersAreTold) {
  int told = 0;
  directory_.set_on_awaited([&told] { ++told; });
  directory_.SetAwaitedBy({"a", "b"});
  directory_.SetAwaitedBy({"b", "a"});
  EXPECT_EQ(told, 1);
  directory_.SetAwaitedBy({});
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(directory_.awaited_by().empty());
}

TEST_F(DirectoryTest, AWorkerBehindARelayHasNoEndpoint) {
  directory_.Learn({{"w", {protocol::ViaRelay("r"), "h:1"}}});
  EXPECT_EQ(directory_.RelayOf("w"), "r");
  EXPECT_EQ(directory_.EndpointOf("w"), "");
  EXPECT_FALSE(directory_.IsReverse("w"));
  directory_.Learn({{"w", {"h:1"}}});
  EXPECT_EQ(directory_.RelayOf("w"), "");
  EXPECT_EQ(directory_.EndpointOf("w"), "h:1");
}

TEST_F(DirectoryTest, WhoIsBehindARelayMovesAfterItAndToAnother) {
  directory_.Learn({{"a", {protocol::ViaRelay("r"), "h:1"}}, {"r", {"h:2"}}});
  moved_.clear();
  directory_.Learn({{"r", {"h:3"}}});
  EXPECT_EQ(moved_, (std::vector<std::string>{"r", "a"}));
  moved_.clear();
  directory_.Learn({{"a", {protocol::ViaRelay("s"), "h:1"}}});
  EXPECT_EQ(moved_, std::vector<std::string>{"a"});
}

TEST_F(DirectoryTest, TheHandlerIsCalledWhenThePairsChange) {
  int told = 0;
  directory_.set_on_relayed([&told] { ++told; });
  directory_.SetRelayed({{"a", "b"}});
  directory_.SetRelayed({{"a", "b"}});
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(directory_.Relays("a", "b"));
  EXPECT_TRUE(directory_.Relays("b", "a"));
  EXPECT_FALSE(directory_.Relays("a", "c"));
}

}  // namespace
}  // namespace skerry::transport
