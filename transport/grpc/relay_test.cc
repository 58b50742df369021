// Two workers that both cannot be dialled, and the relay between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/peers.h"
#include "transport/directory.h"
#include "transport/grpc/grpc_bulk.h"
#include "transport/grpc/refused_calls.h"
#include "transport/grpc/testing/bulk_driver.h"
#include "transport/grpc/testing/bulk_nodes.h"
#include "transport/testing/bulk_conformance.h"

namespace skerry::transport {
namespace {

using protocol::ViaRelay;

// Sender and receiver know the relay alone.
class RelayDriver final : public BulkDriver {
 public:
  ~RelayDriver() override {
    End();
    Run([this] { relay_.reset(); });
  }

  void Start(BulkReceiver& receiver) override {
    receiver_ = &receiver;
    Run([this] {
      relay_ = Make("r", at_relay_, nobody_);
      at_relay_.SetRelayed({{"a", "b"}});
      for (Directory* directory : {&at_sender_, &at_receiver_}) {
        directory->Learn({{"r", {relay_->address()}}});
      }
      at_sender_.Learn({{"b", {ViaRelay("r"), "127.0.0.1:1"}}});
      at_receiver_.Learn({{"a", {ViaRelay("r"), "127.0.0.1:1"}}});
      sending_ = Make("a", at_sender_, nobody_);
    });
    StartReceiving();
  }
  void StartReceiving() override {
    Run([this] {
      receiving_ = Make("b", at_receiver_, *receiver_);
      at_receiver_.SetAwaitedBy({"a"});
    });
  }
  void StopReceiving() override {
    Run([this] {
      receiving_.reset();
      at_receiver_.SetAwaitedBy({});
    });
  }

 private:
  Directory at_sender_;
  Directory at_receiver_;
  Directory at_relay_;
  std::unique_ptr<GrpcBulk> relay_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Relay, BulkConformance, RelayDriver);

class RelayTest : public BulkNodesTest {
 protected:
  // The orders of `one` say that it meets `other` at the relay.
  static void Learn(Node& one, const Node& other, const Node& relay) {
    Introduce(one, relay);
    one.directory.Learn({{other.name, {ViaRelay(relay.name), "127.0.0.1:1"}}});
    one.directory.SetAwaitedBy({other.name});
  }
  // All three are told.
  void Meet(Node& a, Node& b, Node& relay) {
    loop_.Run([&] {
      relay.directory.SetRelayed({protocol::RelayedPair(a.name, b.name)});
      Learn(a, b, relay);
      Learn(b, a, relay);
    });
  }
  static bool Same(const SharedBytes& a, const SharedBytes& b) {
    return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(),
                      b.bytes().end());
  }
};

TEST_F(RelayTest, FramesOfBothDirectionsComeUnchangedUnderTheirSendersNames) {
  Node& relay = Make("r", "r");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  Meet(a, b, relay);
  const Frame there = MakeFrame(1, 0, (1 << 20) - 7);
  const Frame back = MakeFrame(1, 1, 1 << 20);
  EXPECT_TRUE(Send(a, b, there).get().ok());
  EXPECT_TRUE(Send(b, a, back).get().ok());
  loop_.Run([&] {
    ASSERT_EQ(b.receiver.frames.size(), 1u);
    EXPECT_EQ(b.receiver.frames[0].header, there.header);
    EXPECT_TRUE(Same(b.receiver.frames[0].payload, there.payload));
    ASSERT_EQ(a.receiver.frames.size(), 1u);
    EXPECT_TRUE(Same(a.receiver.frames[0].payload, back.payload));
    EXPECT_EQ(b.receiver.senders, absl::btree_set<std::string>({"a"}));
    EXPECT_EQ(a.receiver.senders, absl::btree_set<std::string>({"b"}));
    EXPECT_EQ(relay.receiver.offers, 0u);
  });
}

TEST_F(RelayTest, AFetchAndItsRefusalPassInBothDirections) {
  Node& relay = Make("r", "r");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  Meet(a, b, relay);
  const PieceKey there = Hold(b, (size_t{5} << 19) + 3);
  const PieceKey here = Hold(a, 0);
  const auto object = Fetch(a, b, there);
  ASSERT_TRUE(object.ok()) << object.status();
  loop_.Run([&] {
    ASSERT_EQ(object->size(), b.receiver.objects.at(there).size());
    EXPECT_TRUE(Same(*object, b.receiver.objects.at(there)));
    EXPECT_EQ(b.receiver.fetchers.back(), (Fetcher{"a", true}));
  });
  EXPECT_TRUE(Fetch(b, a, here).ok());
  const absl::Status missing =
      Fetch(a, b, {.span = 4, .job = JobId(1)}).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(missing.message(), "span 4 not held");
}

TEST_F(RelayTest, ManyFetchesShareTheCallsThatThereAre) {
  Node& relay = Make("r", "r");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  Meet(a, b, relay);
  const PieceKey key = Hold(b, 1000);
  int fetched = 0;
  loop_.Run([&] {
    for (int i = 0; i < 100; ++i) {
      a.bulk->Fetch(b.name, key, [&](absl::StatusOr<SharedBytes> object) {
        EXPECT_TRUE(object.ok()) << object.status();
        ++fetched;
      });
    }
  });
  loop_.Await([&] { return fetched == 100; });
}

TEST_F(RelayTest, AReceiverThatDiesAndComesBackGetsWhatWasNotAnswered) {
  Node& relay = Make("r", "r");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  Meet(a, b, relay);
  // Held and lost with the stream.
  b.receiver.attempt = 0;
  auto outcome = Send(a, b, MakeFrame(1, 0, 1000));
  loop_.Await([&] { return b.receiver.offers > 0; });
  loop_.Run([&] {
    b.bulk.reset();
    b.directory.SetAwaitedBy({});
    b.receiver.attempt = 1;
    Start(b);
    b.directory.SetAwaitedBy({"a"});
  });
  EXPECT_TRUE(outcome.get().ok());
  loop_.Run([&] { EXPECT_EQ(b.receiver.frames.size(), 1u); });
}

TEST_F(RelayTest, AReceiverHearsThatItsSenderIsGoneAndTakesTheNext) {
  Node& relay = Make("r", "r");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  Meet(a, b, relay);
  EXPECT_TRUE(Send(a, b, MakeFrame(1, 0, 1000)).get().ok());
  loop_.Run([&] {
    a.bulk.reset();
    a.directory.SetAwaitedBy({});
  });
  log_.AwaitOne("bulk.reverse.lost", "worker a or its connection has gone");
  loop_.Run([&] {
    Start(a);
    a.directory.SetAwaitedBy({"b"});
  });
  EXPECT_TRUE(Send(a, b, MakeFrame(1, 1, 1000)).get().ok());
  loop_.Run([&] { EXPECT_EQ(b.receiver.frames.size(), 2u); });
}

TEST_F(RelayTest, ARelayThatComesBackElsewhereIsUsedAgain) {
  Node& relay = Make("r", "r");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  Meet(a, b, relay);
  b.receiver.attempt = 0;
  auto outcome = Send(a, b, MakeFrame(1, 0, 1000));
  loop_.Await([&] { return b.receiver.offers > 0; });
  loop_.Run([&] {
    relay.bulk.reset();
    b.receiver.attempt = 1;
    Start(relay);
    Learn(a, b, relay);
    Learn(b, a, relay);
  });
  EXPECT_TRUE(outcome.get().ok());
  EXPECT_TRUE(Send(b, a, MakeFrame(1, 1, 1000)).get().ok());
}

TEST_F(RelayTest, AnotherRelayTakesOver) {
  Node& relay = Make("r", "r");
  Node& spare = Make("s", "s");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  Meet(a, b, relay);
  b.receiver.attempt = 0;
  auto outcome = Send(a, b, MakeFrame(1, 0, 1000));
  loop_.Await([&] { return b.receiver.offers > 0; });
  loop_.Run([&] {
    relay.bulk.reset();
    b.receiver.attempt = 1;
  });
  Meet(a, b, spare);
  EXPECT_TRUE(outcome.get().ok());
  const PieceKey key = Hold(a, 1000);
  EXPECT_TRUE(Fetch(b, a, key).ok());
}

TEST_F(RelayTest, WhoComesBeforeTheOrdersOfTheRelayWaits) {
  Node& relay = Make("r", "r");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  loop_.Run([&] {
    Learn(a, b, relay);
    Learn(b, a, relay);
  });
  auto outcome = Send(a, b, MakeFrame(1, 0, 1000));
  loop_.Run([&] { relay.directory.SetRelayed({{"a", "b"}}); });
  EXPECT_TRUE(outcome.get().ok());
}

TEST_F(RelayTest, APairThatIsNotRelayedIsRefusedInALineAtAllEnds) {
  relay_options_.named_within = absl::ZeroDuration();
  Node& relay = Make("r", "r");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  loop_.Run([&] {
    relay.directory.SetRelayed({{"a", "c"}});
    Learn(a, b, relay);
    Learn(b, a, relay);
  });
  auto outcome = Send(a, b, MakeFrame(1, 0, 1000));
  const std::string why =
      "this worker passes nothing on between workers a and b: none of its "
      "orders say so";
  log_.AwaitOne("transport.call.refused", why);
  log_.AwaitOne("bulk.stream.lost", why);
  log_.AwaitOne("bulk.reverse.lost", why);
  EXPECT_EQ(Fetch(a, b, Hold(b, 10)).status().code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_GT(relay.credentials->refused_calls().count(CallRefusal::kNotAllowed),
            0u);
  loop_.Run([&] { EXPECT_EQ(b.receiver.offers, 0u); });
}

TEST_F(RelayTest, APairThatIsTakenBackEndsForBoth) {
  Node& relay = Make("r", "r");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  Meet(a, b, relay);
  EXPECT_TRUE(Send(a, b, MakeFrame(1, 0, 1000)).get().ok());
  loop_.Run([&] { relay.directory.SetRelayed({}); });
  const std::string why =
      "this worker no longer passes anything on between workers a and b";
  log_.AwaitOne("bulk.stream.lost", why);
  log_.AwaitOne("bulk.reverse.lost", why);
}

TEST_F(RelayTest, ASenderWhosePeerHasOpenedNothingHearsIt) {
  relay_options_.opened_within = absl::ZeroDuration();
  Node& relay = Make("r", "r");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  loop_.Run([&] {
    relay.directory.SetRelayed({{"a", "b"}});
    Learn(a, b, relay);
  });
  auto outcome = Send(a, b, MakeFrame(1, 0, 1000));
  log_.AwaitOne("bulk.stream.lost",
                "worker b cannot be dialled and has opened no stream for a");
  loop_.Run([&] { Learn(b, a, relay); });
}

TEST_F(RelayTest, AWorkerThatTakesAnothersNameIsPassedNothing) {
  Node& relay = Make("r", "r");
  Node& a = Make("a", "a");
  Node& liar = Make("b", "c");
  Meet(a, liar, relay);
  auto outcome = Send(a, liar, MakeFrame(1, 0, 1000));
  log_.AwaitOne("transport.call.refused",
                "calls itself b and has the certificate of worker c");
  loop_.Run([&] { EXPECT_EQ(liar.receiver.offers, 0u); });
}

// The worker at the address is another than the orders say.
TEST_F(RelayTest, NothingIsTakenFromAWorkerThatIsNotTheRelay) {
  Node& other = Make("r", "x");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  Meet(a, b, other);
  EXPECT_FALSE(Fetch(a, b, Hold(b, 10)).ok());
  loop_.Run([&] { EXPECT_TRUE(b.receiver.fetchers.empty()); });
}

TEST_F(RelayTest, ARevokedSenderOrReceiverLosesItsStreams) {
  Node& relay = Make("r", "r");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  Meet(a, b, relay);
  EXPECT_TRUE(Send(a, b, MakeFrame(1, 0, 1000)).get().ok());
  relay.credentials->revocations()->Set(
      {identity::FormatName(cluster_.Worker("a"))});
  auto outcome = Send(a, b, MakeFrame(1, 1, 1000));
  log_.AwaitOne("bulk.stream.lost", "is revoked");
  loop_.Run([&] { EXPECT_EQ(b.receiver.frames.size(), 1u); });
}

TEST_F(RelayTest, AReceiverTakesNothingFromARevokedRelay) {
  Node& relay = Make("r", "r");
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  Meet(a, b, relay);
  EXPECT_TRUE(Send(a, b, MakeFrame(1, 0, 1000)).get().ok());
  b.credentials->revocations()->Set(
      {identity::FormatName(cluster_.Worker("r"))});
  auto outcome = Send(a, b, MakeFrame(1, 1, 1000));
  log_.AwaitOne("bulk.reverse.lost", "is revoked");
  loop_.Run([&] { EXPECT_EQ(b.receiver.frames.size(), 1u); });
}

}  // namespace
}  // namespace skerry::transport
