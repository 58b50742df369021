// Streams that a worker opens because nobody can dial it.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/hash.h"
#include "protocol/peers.h"
#include "runtime/log.h"
#include "runtime/posix/posix_loop.h"
#include "runtime/testing/memory_files.h"
#include "transport/directory.h"
#include "transport/grpc/grpc_bulk.h"
#include "transport/grpc/testing/test_identity.h"
#include "transport/testing/bulk_conformance.h"

namespace skerry::transport {
namespace {

using protocol::kReverse;

// What all drivers and fixtures share.
class Loop {
 public:
  ~Loop() { loop.Stop(); }
  void Run(std::function<void()> task) {
    std::promise<void> done;
    loop.Post([&] {
      task();
      done.set_value();
    });
    done.get_future().get();
  }
  void Await(std::function<bool()> is_so) {
    std::promise<void> done;
    std::function<void()> ask = [&] {
      if (is_so()) return done.set_value();
      loop.RunAt(loop.Now() + absl::Milliseconds(1), ask);
    };
    loop.Post(ask);
    done.get_future().get();
  }

  runtime::PosixLoop loop{"test-loop"};
};

// The end that sends listens, and the one that receives opens the streams. It
// would not be found at the address that the directory has for it.
class ReverseDriver {
 public:
  ~ReverseDriver() {
    Run([this] {
      receiving_.reset();
      sending_.reset();
    });
  }

  void Start(BulkReceiver& receiver) {
    receiver_ = &receiver;
    Run([this] {
      directory_.Learn({{"b", {kReverse, "127.0.0.1:1"}}});
      sending_ = Make("a", directory_, nobody_);
      back_.Learn({{"a", {sending_->address()}}});
    });
    StartReceiving();
  }
  void StartReceiving() {
    Run([this] {
      receiving_ = Make("b", back_, *receiver_);
      back_.SetAwaitedBy({"a"});
    });
  }
  void StopReceiving() {
    Run([this] {
      receiving_.reset();
      back_.SetAwaitedBy({});
    });
  }
  void RestartReceiving() {
    StopReceiving();
    StartReceiving();
  }
  void DestroySending() { sending_.reset(); }
  BulkTransport& sending() { return *sending_; }
  BulkTransport& receiving() { return *receiving_; }
  std::string peer() const { return "b"; }
  void Run(std::function<void()> task) { loop_.Run(std::move(task)); }
  void Await(std::function<bool()> is_so) { loop_.Await(std::move(is_so)); }
  void Settle() {
    int turns = 0;
    Await([&turns] { return ++turns > 20; });
  }

 private:
  std::unique_ptr<GrpcBulk> Make(const std::string& name, Directory& directory,
                                 BulkReceiver& receiver) {
    GrpcBulkOptions options;
    options.listen_address = "127.0.0.1:0";
    options.name = name;
    options.channels_per_peer = 1;  // the kit asks for order
    options.fetch_stall_max = absl::Milliseconds(200);
    auto bulk = GrpcBulk::Start(options, loop_.loop, directory, receiver);
    EXPECT_TRUE(bulk.ok()) << bulk.status();
    return bulk.ok() ? *std::move(bulk) : nullptr;
  }

  Loop loop_;
  Directory directory_;
  Directory back_;
  RecordingReceiver nobody_;
  BulkReceiver* receiver_ = nullptr;
  std::unique_ptr<GrpcBulk> receiving_;
  std::unique_ptr<GrpcBulk> sending_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Reverse, BulkConformance, ReverseDriver);

// Remembers what is logged.
class LogKeeper final : public runtime::LogSink {
 public:
  LogKeeper() { runtime::InstallLogSink(this); }
  ~LogKeeper() override { runtime::InstallLogSink(nullptr); }
  void Write(runtime::Severity, std::string_view event,
             std::span<const runtime::LogField> fields) override {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const runtime::LogField& field : fields) {
      if (const auto* text = std::get_if<std::string>(&field.value)) {
        lines_.emplace_back(event, *text);
      }
    }
    changed_.notify_all();
  }
  // Returns once an event of that name has had a field with `words` in it.
  void AwaitOne(const std::string& event, const std::string& words) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] {
      return std::any_of(lines_.begin(), lines_.end(), [&](const auto& line) {
        return line.first == event &&
               line.second.find(words) != std::string::npos;
      });
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::string, std::string>> lines_;  // guarded by mutex_
};

// Workers of one cluster with TLS, on one loop.
class ReverseTest : public testing::Test {
 protected:
  struct Node {
    std::string name;
    Directory directory;
    RecordingReceiver receiver;
    std::shared_ptr<Credentials> credentials;
    std::unique_ptr<GrpcBulk> bulk;
  };

  ~ReverseTest() override {
    loop_.Run([this] {
      for (Node& node : nodes_) node.bulk.reset();
    });
  }

  // A worker that calls itself `name` and has the certificate of `owner`.
  Node& Make(const std::string& name, const std::string& owner) {
    return Make(name, cluster_.Make(cluster_.Worker(owner), files_));
  }
  Node& Make(const std::string& name,
             std::shared_ptr<Credentials> credentials) {
    Node& node = nodes_.emplace_back();
    node.name = name;
    node.credentials = std::move(credentials);
    loop_.Run([&] { Start(node); });
    return node;
  }
  void Start(Node& node) {
    GrpcBulkOptions options;
    options.listen_address = "127.0.0.1:0";
    options.name = node.name;
    options.credentials = node.credentials;
    options.channels_per_peer = 1;
    node.bulk =
        GrpcBulk::Start(options, loop_.loop, node.directory, node.receiver)
            .value();
  }
  // `hidden` opens streams to `open`, which waits for them.
  void Hide(Node& hidden, Node& open) {
    loop_.Run([&] {
      open.directory.Learn({{hidden.name, {kReverse, "127.0.0.1:1"}}});
      OpenTo(hidden, open);
    });
  }
  void OpenTo(Node& hidden, Node& open) {
    hidden.directory.Learn({{open.name, {open.bulk->address()}}});
    hidden.credentials->peers().Set(open.bulk->address(), open.name);
    hidden.directory.SetAwaitedBy({open.name});
  }
  // The outcome comes into the future.
  std::future<absl::Status> Send(Node& by, const Node& to, Frame frame) {
    auto done = std::make_shared<std::promise<absl::Status>>();
    loop_.Run([&] {
      by.bulk->Send(to.name, std::move(frame), TrafficClass::kBulk,
                    [done](absl::Status status) { done->set_value(status); });
    });
    return done->get_future();
  }
  absl::StatusOr<Payload> Fetch(Node& by, const Node& from,
                                const FetchKey& key) {
    std::promise<absl::StatusOr<Payload>> done;
    loop_.Run([&] {
      by.bulk->Fetch(from.name, key, [&](absl::StatusOr<Payload> object) {
        done.set_value(std::move(object));
      });
    });
    return done.get_future().get();
  }
  // Gives the node an object. Answers its key.
  FetchKey Hold(Node& node, size_t size) {
    FetchKey key{.job = 1, .span = 3, .sequence = 9};
    const Payload object = RandomPayload(size, size);
    key.hash = Hash64(object.bytes());
    loop_.Run([&] { node.receiver.objects[key] = object; });
    return key;
  }

  LogKeeper log_;  // outlives whoever logs
  TestCluster cluster_{"lab"};
  runtime::MemoryFiles files_;
  std::deque<Node> nodes_;
  Loop loop_;
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
  const FetchKey there = Hold(hidden, (size_t{5} << 19) + 3);
  const FetchKey here = Hold(open, (size_t{3} << 19) + 1);
  const auto from_hidden = Fetch(open, hidden, there);
  ASSERT_TRUE(from_hidden.ok()) << from_hidden.status();
  EXPECT_EQ(from_hidden->size(), (size_t{5} << 19) + 3);
  EXPECT_TRUE(Fetch(hidden, open, here).ok());
  loop_.Run([&] {
    EXPECT_EQ(hidden.receiver.fetchers.back(), (Fetcher{"a", true}));
    EXPECT_EQ(open.receiver.fetchers.back(), (Fetcher{"b", true}));
  });
  const absl::Status missing =
      Fetch(open, hidden, {.job = 1, .span = 4}).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(missing.message(), "span 4 not held");
}

// More than the peer keeps ready: each one that ends makes room.
TEST_F(ReverseTest, ManyFetchesShareTheCallsThatThereAre) {
  Node& open = Make("a", "a");
  Node& hidden = Make("b", "b");
  Hide(hidden, open);
  const FetchKey key = Hold(hidden, 1000);
  int fetched = 0;
  loop_.Run([&] {
    for (int i = 0; i < 100; ++i) {
      open.bulk->Fetch(hidden.name, key, [&](absl::StatusOr<Payload> object) {
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
  const FetchKey key = Hold(hidden, 1000);
  EXPECT_TRUE(Fetch(open, hidden, key).ok());
  hidden.credentials->revocations()->Set(
      {identity::FormatName(cluster_.Worker("a"))});
  EXPECT_FALSE(Fetch(open, hidden, key).ok());
  loop_.Run([&] { EXPECT_EQ(hidden.receiver.fetchers.size(), 1u); });
}

}  // namespace
}  // namespace skerry::transport
