// transport/grpc/testing/bulk_nodes.h
//
// Workers of a cluster with TLS in one process, for tests of who reaches whom.
#ifndef SKERRY_TRANSPORT_GRPC_TESTING_BULK_NODES_H_
#define SKERRY_TRANSPORT_GRPC_TESTING_BULK_NODES_H_

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
#include "runtime/log.h"
#include "runtime/posix/posix_loop.h"
#include "runtime/testing/memory_files.h"
#include "transport/directory.h"
#include "transport/grpc/grpc_bulk.h"
#include "transport/grpc/testing/test_identity.h"
#include "transport/testing/frames.h"
#include "transport/testing/recording_receiver.h"

namespace skerry::transport {

// A loop on a thread of its own, for the drivers and fixtures of bulk tests.
class BulkLoop {
 public:
  ~BulkLoop() { loop.Stop(); }
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
class BulkNodesTest : public testing::Test {
 protected:
  struct Node {
    std::string name;
    Directory directory;
    RecordingReceiver receiver;
    std::shared_ptr<Credentials> credentials;
    std::unique_ptr<GrpcBulk> bulk;
  };

  ~BulkNodesTest() override {
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
    options.relay = relay_options_;
    node.bulk =
        GrpcBulk::Start(options, loop_.loop, node.directory, node.receiver)
            .value();
  }
  // Tells the node whose port is at that address, and where to expect it.
  static void Introduce(Node& to, const Node& who) {
    to.credentials->peers().Set(who.bulk->address(), who.name);
    to.directory.Learn({{who.name, {who.bulk->address()}}});
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
  absl::StatusOr<SharedBytes> Fetch(Node& by, const Node& from,
                                    const PieceKey& key) {
    std::promise<absl::StatusOr<SharedBytes>> done;
    loop_.Run([&] {
      by.bulk->Fetch(from.name, key, [&](absl::StatusOr<SharedBytes> object) {
        done.set_value(std::move(object));
      });
    });
    return done.get_future().get();
  }
  // Gives the node an object. Answers its key.
  PieceKey Hold(Node& node, size_t size) {
    PieceKey key{.sequence = Sequence(9), .span = 3, .job = JobId(1)};
    const SharedBytes object = RandomPayload(size, size);
    key.hash = Hash64(object.bytes());
    loop_.Run([&] { node.receiver.objects[key] = object; });
    return key;
  }

  RelayOptions relay_options_;
  LogKeeper log_;  // outlives whoever logs
  TestCluster cluster_{"lab"};
  runtime::MemoryFiles files_;
  std::deque<Node> nodes_;
  BulkLoop loop_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_TESTING_BULK_NODES_H_
