// Streams that a worker opens because nobody can dial it.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "protocol/peers.h"
#include "transport/directory.h"
#include "transport/grpc/grpc_bulk.h"
#include "transport/grpc/testing/bulk_driver.h"
#include "transport/grpc/testing/bulk_nodes.h"
#include "transport/testing/bulk_conformance.h"

namespace skerry::transport {
namespace {

using protocol::kReverse;

// The end that sends listens, and the one that receives opens the streams. It
// would not be found at the address that the directory has for it.
class ReverseDriver final : public BulkDriver {
 public:
  ~ReverseDriver() override { End(); }

  void Start(BulkReceiver& receiver) override {
    receiver_ = &receiver;
    Run([this] {
      directory_.Learn({{"b", {kReverse, "127.0.0.1:1"}}});
      sending_ = Make("a", directory_, nobody_);
      back_.Learn({{"a", {sending_->address()}}});
    });
    StartReceiving();
  }
  void StartReceiving() override {
    Run([this] {
      receiving_ = Make("b", back_, *receiver_);
      back_.SetAwaitedBy({"a"});
    });
  }
  void StopReceiving() override {
    Run([this] {
      receiving_.reset();
      back_.SetAwaitedBy({});
    });
  }

 private:
  Directory directory_;
  Directory back_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Reverse, BulkConformance, ReverseDriver);

class ReverseTest : public BulkNodesTest {
 protected:
  // `hidden` opens streams to `open`, which waits for them.
  void Hide(Node& hidden, Node& open) {
    loop_.Run([&] {
      open.directory.Learn({{hidden.name, {kReverse, "127.0.0.1:1"}}});
      OpenTo(hidden, open);
    });
  }
  void OpenTo(Node& hidden, Node& open) {
    Introduce(hidden, open);
    hidden.directory.SetAwaitedBy({open.name});
  }
};

TEST_F(ReverseTest, FramesOfBothDirectionsComeUnderTheNamesOfCertificates) {
  Node& open = Make("a", "a");
  Node& hidden = Make("b", "b");
  Hide(hidden, open);
  EXPECT_TRUE(Send(open, hidden, MakeFrame(1, 0, 100000)).get().ok());
  EXPECT_TRUE(Send(hidden, open, MakeFrame(1, 1, 100000)).get().ok());
  EXPECT_EQ(hidden.receiver.senders, absl::btree_set<std::string>({"a"}));
  EXPECT_EQ(open.receiver.senders, absl::btree_set<std::string>({"b"}));
}

TEST_F(ReverseTest, AFetchGoesInBothDirections) {
  Node& open = Make("a", "a");
  Node& hidden = Make("b", "b");
  Hide(hidden, open);
  const PieceKey there = Hold(hidden, (size_t{5} << 19) + 3);
  const PieceKey here = Hold(open, (size_t{3} << 19) + 1);
  const auto from_hidden = Fetch(open, hidden, there);
  ASSERT_TRUE(from_hidden.ok()) << from_hidden.status();
  EXPECT_EQ(from_hidden->size(), (size_t{5} << 19) + 3);
  EXPECT_TRUE(Fetch(hidden, open, here).ok());
  loop_.Run([&] {
    EXPECT_EQ(hidden.receiver.fetchers.back(), (Fetcher{"a", true}));
    EXPECT_EQ(open.receiver.fetchers.back(), (Fetcher{"b", true}));
  });
  const absl::Status missing =
      Fetch(open, hidden, {.span = 4, .job = JobId(1)}).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(missing.message(), "span 4 not held");
}

// More than the peer keeps ready: each one that ends makes room.
TEST_F(ReverseTest, ManyFetchesShareTheCallsThatThereAre) {
  Node& open = Make("a", "a");
  Node& hidden = Make("b", "b");
  Hide(hidden, open);
  const PieceKey key = Hold(hidden, 1000);
  int fetched = 0;
  loop_.Run([&] {
    for (int i = 0; i < 100; ++i) {
      open.bulk->Fetch(hidden.name, key,
                       [&](absl::StatusOr<SharedBytes> object) {
                         EXPECT_TRUE(object.ok()) << object.status();
                         ++fetched;
                       });
    }
  });
  loop_.Await([&] { return fetched == 100; });
}

TEST_F(ReverseTest, WhatABrokenStreamCarriedIsSentAgainOnTheNext) {
  Node& open = Make("a", "a");
  Node& hidden = Make("b", "b");
  Hide(hidden, open);
  // Held and lost with the stream.
  hidden.receiver.attempt = 0;
  auto outcome = Send(open, hidden, MakeFrame(1, 0, 1000));
  loop_.Await([&] { return hidden.receiver.offers > 0; });
  loop_.Run([&] {
    hidden.bulk.reset();
    hidden.directory.SetAwaitedBy({});
    hidden.receiver.attempt = 1;
    Start(hidden);
    OpenTo(hidden, open);
  });
  EXPECT_TRUE(outcome.get().ok());
  EXPECT_EQ(hidden.receiver.frames.size(), 1u);
}

// The end that waits dies: the hidden one opens its streams to the next
// process.
TEST_F(ReverseTest, AStreamIsOpenedAgainAfterTheOtherEndHasMoved) {
  Node& open = Make("a", "a");
  Node& hidden = Make("b", "b");
  Hide(hidden, open);
  EXPECT_TRUE(Send(open, hidden, MakeFrame(1, 0, 1000)).get().ok());
  loop_.Run([&] {
    open.bulk.reset();
    Start(open);
    OpenTo(hidden, open);
  });
  EXPECT_TRUE(Send(open, hidden, MakeFrame(1, 1, 1000)).get().ok());
  EXPECT_EQ(hidden.receiver.frames.size(), 2u);
}

// Orders reach the two at different times: one opens streams while the other
// still dials it.
TEST_F(ReverseTest, BothSidesMayConnectAtOnce) {
  Node& a = Make("a", "a");
  Node& b = Make("b", "b");
  loop_.Run([&] {
    a.credentials->peers().Set(b.bulk->address(), "b");
    a.directory.Learn({{"b", {b.bulk->address()}}});
    OpenTo(b, a);
  });
  for (uint32_t part = 0; part < 8; ++part) {
    EXPECT_TRUE(Send(a, b, MakeFrame(1, part, 1000)).get().ok());
    EXPECT_TRUE(Send(b, a, MakeFrame(1, part, 1000)).get().ok());
  }
  log_.AwaitOne("transport.call.refused", "awaits no streams of worker b");
  loop_.Run([&] { a.directory.Learn({{"b", {kReverse}}}); });
  for (uint32_t part = 8; part < 16; ++part) {
    EXPECT_TRUE(Send(a, b, MakeFrame(1, part, 1000)).get().ok());
  }
  loop_.Run([&] {
    EXPECT_EQ(a.receiver.frames.size(), 8u);
    EXPECT_EQ(b.receiver.frames.size(), 16u);
  });
}

TEST_F(ReverseTest, AForeignPeerIsRefusedInALineAtBothEnds) {
  Node& open = Make("a", "a");
  Node& foreign = Make("f", "f");
  loop_.Run([&] { OpenTo(foreign, open); });
  log_.AwaitOne("transport.call.refused",
                "this worker awaits no streams of worker f");
  log_.AwaitOne("bulk.reverse.lost",
                "this worker awaits no streams of worker f");
}

TEST_F(ReverseTest, AWorkerThatTakesAnothersNameOpensNothing) {
  Node& open = Make("a", "a");
  Node& liar = Make("b", "c");
  Hide(liar, open);
  auto outcome = Send(open, liar, MakeFrame(1, 0, 1000));
  log_.AwaitOne("transport.call.refused",
                "calls itself b and has the certificate of worker c");
  log_.AwaitOne("bulk.reverse.lost", "has the certificate of worker c");
  EXPECT_TRUE(liar.receiver.frames.empty());
}

TEST_F(ReverseTest, ARevokedWorkerLosesItsStreams) {
  Node& open = Make("a", "a");
  Node& hidden = Make("b", "b");
  Hide(hidden, open);
  EXPECT_TRUE(Send(open, hidden, MakeFrame(1, 0, 1000)).get().ok());
  open.credentials->revocations()->Set(
      {identity::FormatName(cluster_.Worker("b"))});
  auto outcome = Send(open, hidden, MakeFrame(1, 1, 1000));
  log_.AwaitOne("bulk.reverse.lost", "is revoked");
  log_.AwaitOne("transport.call.refused", "is revoked");
}

TEST_F(ReverseTest, AHiddenWorkerTakesNothingFromARevokedOne) {
  Node& open = Make("a", "a");
  Node& hidden = Make("b", "b");
  Hide(hidden, open);
  EXPECT_TRUE(Send(open, hidden, MakeFrame(1, 0, 1000)).get().ok());
  hidden.credentials->revocations()->Set(
      {identity::FormatName(cluster_.Worker("a"))});
  auto outcome = Send(open, hidden, MakeFrame(1, 1, 1000));
  log_.AwaitOne("bulk.reverse.lost", "is revoked");
  loop_.Run([&] { EXPECT_EQ(hidden.receiver.frames.size(), 1u); });
}

// The calls for fetches were open before the peer was revoked.
TEST_F(ReverseTest, AHiddenWorkerGivesNothingToARevokedOne) {
  Node& open = Make("a", "a");
  Node& hidden = Make("b", "b");
  Hide(hidden, open);
  const PieceKey key = Hold(hidden, 1000);
  EXPECT_TRUE(Fetch(open, hidden, key).ok());
  hidden.credentials->revocations()->Set(
      {identity::FormatName(cluster_.Worker("a"))});
  EXPECT_FALSE(Fetch(open, hidden, key).ok());
  loop_.Run([&] { EXPECT_EQ(hidden.receiver.fetchers.size(), 1u); });
}

}  // namespace
}  // namespace skerry::transport
