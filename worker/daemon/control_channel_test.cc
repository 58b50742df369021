#include "worker/daemon/control_channel.h"

#include <grpcpp/grpcpp.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "identity/x509/identity_folder.h"
#include "runtime/posix/posix_loop.h"
#include "transport/grpc/testing/plaintext.h"

namespace skerry::worker {
namespace {

// Answers every Status with Orders of the same counter; ends each stream after
// `statuses_per_stream`.
class EchoControl final : public v1::Control::CallbackService {
 public:
  explicit EchoControl(int statuses_per_stream)
      : statuses_per_stream_(statuses_per_stream) {}

  grpc::ServerBidiReactor<v1::Status, v1::Orders>* Session(
      grpc::CallbackServerContext* context) override {
    context->AddInitialMetadata(identity::kMarkHeader, "a mark");
    std::lock_guard lock(mutex_);
    reactors_.push_back(std::make_unique<Reactor>(statuses_per_stream_));
    return reactors_.back().get();
  }

 private:
  class Reactor final : public grpc::ServerBidiReactor<v1::Status, v1::Orders> {
   public:
    explicit Reactor(int statuses) : left_(statuses) { StartRead(&status_); }
    void OnReadDone(bool ok) override {
      if (!ok || left_-- == 0) {
        Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "test ends it"));
        return;
      }
      orders_.set_revision(status_.counter());
      StartWrite(&orders_);
    }
    void OnWriteDone(bool ok) override { StartRead(&status_); }
    // Kept until the service goes, so that its memory outlives the stream.
    void OnDone() override {}

   private:
    int left_;
    v1::Status status_;
    v1::Orders orders_;
  };

  const int statuses_per_stream_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Reactor>> reactors_;  // guarded by mutex_
};

struct Server {
  explicit Server(int statuses_per_stream,
                  const std::string& listen = "127.0.0.1:0")
      : service(statuses_per_stream) {
    grpc::ServerBuilder builder;
    transport::AddPlaintextPort(listen, builder, &port);
    builder.RegisterService(&service);
    server = builder.BuildAndStart();
  }
  std::string address() const { return absl::StrCat("127.0.0.1:", port); }
  EchoControl service;
  int port = 0;
  std::unique_ptr<grpc::Server> server;
};

protocol::StatusFacts StatusWithCounter(uint64_t counter) {
  protocol::StatusFacts status;
  status.counter = counter;
  return status;
}

// A session over a channel.
class Client {
 public:
  Client(ControlChannelOptions channel, const SessionOptions& options,
         runtime::EventLoop& loop, Session::OrdersHandler on_orders,
         Session::EndHandler on_end)
      : channel_(std::move(channel), loop),
        session_(options, loop, channel_, std::move(on_orders),
                 std::move(on_end)) {}
  Session* operator->() { return &session_; }

 private:
  ControlChannel channel_;
  Session session_;
};

// Runs on the loop and waits for it.
void OnLoop(runtime::EventLoop& loop, std::function<void()> work) {
  absl::Notification done;
  loop.Post([&] {
    work();
    done.Notify();
  });
  done.WaitForNotification();
}

TEST(ControlChannelTest, StatusIsAnsweredAndStreamIsMadeAgainAfterItEnds) {
  Server server(/*statuses_per_stream=*/2);
  runtime::PosixLoop loop("test");
  absl::Notification enough;
  std::vector<uint64_t> answered;
  int ends = 0;
  uint64_t next = 1;
  std::atomic<int> marks = 0;
  std::optional<Client> client;
  OnLoop(loop, [&] {
    client.emplace(
        ControlChannelOptions{.coordinator = server.address(),
                              .on_mark =
                                  [&marks](const std::string& mark) {
                                    EXPECT_EQ(mark, "a mark");
                                    ++marks;
                                  }},
        SessionOptions{.backoff_min = absl::Milliseconds(1)}, loop,
        [&](const protocol::HeardOrders& heard) {
          answered.push_back(heard.orders.revision.value());
          if (answered.size() == 6) {
            enough.Notify();
          } else if (answered.size() < 6) {
            (*client)->Send(StatusWithCounter(next++));
          }
        },
        [&](const SessionEnd& end) {
          EXPECT_TRUE(absl::IsUnavailable(end.status)) << end.status;
          EXPECT_FALSE(end.repeated) << "orders came over every stream";
          ++ends;
          (*client)->Send(StatusWithCounter(next++));
        });
    (*client)->Send(StatusWithCounter(next++));
  });
  enough.WaitForNotification();
  absl::Notification closed;
  OnLoop(loop, [&] {
    EXPECT_GE(ends, 2);
    EXPECT_TRUE(std::is_sorted(answered.begin(), answered.end()));
    (*client)->Shutdown([&] { closed.Notify(); });
  });
  closed.WaitForNotification();
  OnLoop(loop, [&] { client.reset(); });
}

TEST(ControlChannelTest, WhatIsSentAfterReopeningGoesOverANewStream) {
  Server server(/*statuses_per_stream=*/100);
  runtime::PosixLoop loop("test");
  absl::Notification enough;
  std::vector<uint64_t> answered;
  std::vector<bool> asked;
  std::optional<Client> client;
  OnLoop(loop, [&] {
    client.emplace(
        ControlChannelOptions{.coordinator = server.address()},
        SessionOptions{.backoff_min = absl::Milliseconds(1)}, loop,
        [&](const protocol::HeardOrders& heard) {
          answered.push_back(heard.orders.revision.value());
          if (answered.size() > 1) return enough.Notify();
          (*client)->Reopen();
          (*client)->Send(StatusWithCounter(2));
          EXPECT_TRUE(asked.empty());
        },
        [&](const SessionEnd& end) { asked.push_back(end.asked); });
    (*client)->Send(StatusWithCounter(1));
  });
  enough.WaitForNotification();
  absl::Notification closed;
  OnLoop(loop, [&] {
    EXPECT_EQ(answered, (std::vector<uint64_t>{1, 2}));
    EXPECT_EQ(asked, std::vector<bool>{true});
    (*client)->Shutdown([&] { closed.Notify(); });
  });
  closed.WaitForNotification();
  OnLoop(loop, [&] { client.reset(); });
}

TEST(ControlChannelTest, TriesWhileNobodyListensAreRepetitionsOfOneLoss) {
  runtime::PosixLoop loop("test");
  absl::Notification tried;
  int ends = 0;
  std::optional<Client> client;
  OnLoop(loop, [&] {
    client.emplace(
        // Port 1 is reserved and never served here.
        ControlChannelOptions{.coordinator = "127.0.0.1:1"},
        SessionOptions{.backoff_min = absl::Milliseconds(1),
                       .backoff_max = absl::Milliseconds(2)},
        loop, [](const protocol::HeardOrders&) { FAIL() << "nobody answers"; },
        [&](const SessionEnd& end) {
          EXPECT_TRUE(absl::IsUnavailable(end.status)) << end.status;
          EXPECT_EQ(end.repeated, ends > 0);
          if (++ends == 3) tried.Notify();
          (*client)->Send(StatusWithCounter(ends));
        });
    (*client)->Send(StatusWithCounter(1));
  });
  tried.WaitForNotification();
  absl::Notification closed;
  OnLoop(loop, [&] { (*client)->Shutdown([&] { closed.Notify(); }); });
  closed.WaitForNotification();
  OnLoop(loop, [&] { client.reset(); });
}

TEST(ControlChannelTest, AConnectionThatIsBackEndsTheWait) {
  std::string folder = "/tmp/skerry-session-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string address = absl::StrCat("unix:", folder, "/socket");
  runtime::PosixLoop loop("test");
  absl::Notification lost;
  absl::Notification answered;
  std::optional<Client> client;
  OnLoop(loop, [&] {
    client.emplace(
        ControlChannelOptions{.coordinator = address},
        SessionOptions{.backoff_min = absl::Hours(24),
                       .backoff_max = absl::Hours(24)},
        loop, [&](const protocol::HeardOrders&) { answered.Notify(); },
        [&](const SessionEnd& end) {
          if (answered.HasBeenNotified()) return;
          EXPECT_TRUE(absl::IsUnavailable(end.status)) << end.status;
          (*client)->Send(StatusWithCounter(2));
          lost.Notify();
        });
    (*client)->Send(StatusWithCounter(1));
  });
  lost.WaitForNotification();
  Server server(/*statuses_per_stream=*/100, address);
  answered.WaitForNotification();
  absl::Notification closed;
  OnLoop(loop, [&] { (*client)->Shutdown([&] { closed.Notify(); }); });
  closed.WaitForNotification();
  OnLoop(loop, [&] { client.reset(); });
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace skerry::worker
