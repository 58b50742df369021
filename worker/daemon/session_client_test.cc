#include "worker/daemon/session_client.h"

#include <grpcpp/grpcpp.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
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

v1::Status StatusWithCounter(uint64_t counter) {
  v1::Status status;
  status.set_counter(counter);
  return status;
}

// Runs on the loop and waits for it.
void OnLoop(runtime::EventLoop& loop, std::function<void()> work) {
  absl::Notification done;
  loop.Post([&] {
    work();
    done.Notify();
  });
  done.WaitForNotification();
}

TEST(SessionClientTest, StatusIsAnsweredAndStreamIsMadeAgainAfterItEnds) {
  Server server(/*statuses_per_stream=*/2);
  runtime::PosixLoop loop("test");
  absl::Notification enough;
  std::vector<uint64_t> answered;
  int ends = 0;
  uint64_t next = 1;
  std::atomic<int> marks = 0;
  std::unique_ptr<SessionClient> client;
  OnLoop(loop, [&] {
    client = std::make_unique<SessionClient>(
        SessionOptions{.coordinator = server.address(),
                       .backoff_min = absl::Milliseconds(1),
                       .on_mark =
                           [&marks](const std::string& mark) {
                             EXPECT_EQ(mark, "a mark");
                             ++marks;
                           }},
        loop,
        [&](v1::Orders orders) {
          answered.push_back(orders.revision());
          if (answered.size() == 6) {
            enough.Notify();
          } else if (answered.size() < 6) {
            client->Send(StatusWithCounter(next++));
          }
        },
        [&](const SessionEnd& end) {
          EXPECT_TRUE(absl::IsUnavailable(end.status)) << end.status;
          EXPECT_FALSE(end.repeated) << "orders came over every stream";
          ++ends;
          client->Send(StatusWithCounter(next++));
        });
    client->Send(StatusWithCounter(next++));
  });
  enough.WaitForNotification();
  absl::Notification closed;
  OnLoop(loop, [&] {
    EXPECT_GE(ends, 2);
    EXPECT_TRUE(std::is_sorted(answered.begin(), answered.end()));
    client->Shutdown([&] { closed.Notify(); });
  });
  closed.WaitForNotification();
  OnLoop(loop, [&] { client.reset(); });
}

TEST(SessionClientTest, WhatIsSentAfterReopeningGoesOverANewStream) {
  Server server(/*statuses_per_stream=*/100);
  runtime::PosixLoop loop("test");
  absl::Notification enough;
  std::vector<uint64_t> answered;
  std::vector<bool> asked;
  std::unique_ptr<SessionClient> client;
  OnLoop(loop, [&] {
    client = std::make_unique<SessionClient>(
        SessionOptions{.coordinator = server.address(),
                       .backoff_min = absl::Milliseconds(1)},
        loop,
        [&](v1::Orders orders) {
          answered.push_back(orders.revision());
          if (answered.size() > 1) return enough.Notify();
          client->Reopen();
          client->Send(StatusWithCounter(2));
          EXPECT_TRUE(asked.empty());
        },
        [&](const SessionEnd& end) { asked.push_back(end.asked); });
    client->Send(StatusWithCounter(1));
  });
  enough.WaitForNotification();
  absl::Notification closed;
  OnLoop(loop, [&] {
    EXPECT_EQ(answered, (std::vector<uint64_t>{1, 2}));
    EXPECT_EQ(asked, std::vector<bool>{true});
    client->Shutdown([&] { closed.Notify(); });
  });
  closed.WaitForNotification();
  OnLoop(loop, [&] { client.reset(); });
}

TEST(SessionClientTest, TriesWhileNobodyListensAreRepetitionsOfOneLoss) {
  runtime::PosixLoop loop("test");
  absl::Notification tried;
  int ends = 0;
  std::unique_ptr<SessionClient> client;
  OnLoop(loop, [&] {
    client = std::make_unique<SessionClient>(
        // Port 1 is reserved and never served here.
        SessionOptions{.coordinator = "127.0.0.1:1",
                       .backoff_min = absl::Milliseconds(1),
                       .backoff_max = absl::Milliseconds(2)},
        loop, [](v1::Orders) { FAIL() << "nobody answers"; },
        [&](const SessionEnd& end) {
          EXPECT_TRUE(absl::IsUnavailable(end.status)) << end.status;
          EXPECT_EQ(end.repeated, ends > 0);
          if (++ends == 3) tried.Notify();
          client->Send(StatusWithCounter(ends));
        });
    client->Send(StatusWithCounter(1));
  });
  tried.WaitForNotification();
  absl::Notification closed;
  OnLoop(loop, [&] { client->Shutdown([&] { closed.Notify(); }); });
  closed.WaitForNotification();
  OnLoop(loop, [&] { client.reset(); });
}

TEST(SessionClientTest, AConnectionThatIsBackEndsTheWait) {
  std::string folder = "/tmp/skerry-session-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string address = absl::StrCat("unix:", folder, "/socket");
  runtime::PosixLoop loop("test");
  absl::Notification lost;
  absl::Notification answered;
  std::unique_ptr<SessionClient> client;
  OnLoop(loop, [&] {
    client = std::make_unique<SessionClient>(
        SessionOptions{.coordinator = address,
                       .backoff_min = absl::Hours(24),
                       .backoff_max = absl::Hours(24)},
        loop, [&](v1::Orders) { answered.Notify(); },
        [&](const SessionEnd& end) {
          if (answered.HasBeenNotified()) return;
          EXPECT_TRUE(absl::IsUnavailable(end.status)) << end.status;
          client->Send(StatusWithCounter(2));
          lost.Notify();
        });
    client->Send(StatusWithCounter(1));
  });
  lost.WaitForNotification();
  Server server(/*statuses_per_stream=*/100, address);
  answered.WaitForNotification();
  absl::Notification closed;
  OnLoop(loop, [&] { client->Shutdown([&] { closed.Notify(); }); });
  closed.WaitForNotification();
  OnLoop(loop, [&] { client.reset(); });
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace skerry::worker
