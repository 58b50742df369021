#include "tests/netem/relay.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/netem/sockets.h"

namespace skerry::netem {
namespace {

// A listening target, a relay in front of it, and blocking ends.
class RelayTest : public testing::Test {
 protected:
  void SetUp() override {
    target_ = ListenOn("127.0.0.1:0").value();
    Start({.links = {{.name = "ab", .target = LocalAddress(target_)}}});
  }
  void Start(const RelayConfig& config) {
    relay_ = Relay::Listen(config).value();
    thread_ = std::thread([this] { relay_->Run(); });
  }
  void TearDown() override {
    relay_->Stop();
    thread_.join();
    for (const int fd : {target_, client_, server_}) {
      if (fd >= 0) close(fd);
    }
  }
  static void AwaitReadable(int fd) {
    pollfd waiting = {fd, POLLIN, 0};
    while (poll(&waiting, 1, -1) < 1) {
    }
  }
  void Connect() {
    client_ = ConnectTo(relay_->AddressOf("ab")).value();
    AwaitReadable(target_);
    server_ = Accept(target_);
    ASSERT_GE(server_, 0);
  }
  static void Send(int fd, const std::string& text) {
    size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t n =
          send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n > 0) sent += static_cast<size_t>(n);
      if (n < 0) {
        pollfd waiting = {fd, POLLOUT, 0};
        poll(&waiting, 1, -1);
      }
    }
  }
  // `size` bytes, fewer at the end of the stream; "(reset)" after a reset.
  static std::string Receive(int fd, size_t size) {
    std::string text;
    while (text.size() < size) {
      AwaitReadable(fd);
      char buffer[65536];
      const ssize_t n =
          recv(fd, buffer, std::min(sizeof(buffer), size - text.size()), 0);
      if (n == 0) break;
      if (n < 0) return "(reset)";
      text.append(buffer, static_cast<size_t>(n));
    }
    return text;
  }
  nlohmann::json Stats() {
    return nlohmann::json::parse(relay_->Execute("stats"))["links"]["ab"];
  }

  int target_ = -1;
  int client_ = -1;
  int server_ = -1;
  std::unique_ptr<Relay> relay_;
  std::thread thread_;
};

TEST_F(RelayTest, BytesPassBothWaysUnchangedAndAreCounted) {
  Connect();
  std::string big(3 << 20, 'x');
  for (size_t i = 0; i < big.size(); ++i)
    big[i] = static_cast<char>(i * i >> 7);
  std::thread sender([&] { Send(client_, big); });
  EXPECT_EQ(Receive(server_, big.size()), big);
  sender.join();
  Send(server_, "answer");
  EXPECT_EQ(Receive(client_, 6), "answer");
  EXPECT_EQ(Stats()["out_bytes"], big.size());
  EXPECT_EQ(Stats()["in_bytes"], 6);
}

TEST_F(RelayTest, AnEndPassesOnAfterTheBytesAndTheOtherWayStaysOpen) {
  Connect();
  Send(client_, "last words");
  shutdown(client_, SHUT_WR);
  EXPECT_EQ(Receive(server_, 100), "last words");
  Send(server_, "still here");
  EXPECT_EQ(Receive(client_, 10), "still here");
  close(server_);
  server_ = -1;
  EXPECT_EQ(Receive(client_, 1), "");
}

TEST_F(RelayTest, AHeldCutKeepsTheBytesAndTheOtherWayGoesOn) {
  Connect();
  Send(client_, "a");
  EXPECT_EQ(Receive(server_, 1), "a");
  EXPECT_EQ(relay_->Execute("cut ab out"), R"({"ok":true})");
  Send(client_, "held");
  Send(server_, "b");
  EXPECT_EQ(Receive(client_, 1), "b");
  EXPECT_EQ(Stats()["out_bytes"], 1);
  relay_->Execute("heal ab");
  EXPECT_EQ(Receive(server_, 4), "held");
  EXPECT_EQ(Stats()["out_bytes_dropped"], 0);
}

TEST_F(RelayTest, ADroppingCutIsSilentAndEndsTheConnectionWhenItHeals) {
  Connect();
  relay_->Execute("cut ab out drop");
  Send(client_, "lost");
  while (Stats()["out_bytes_dropped"] != 4) std::this_thread::yield();
  // Half open: the far side's bytes still arrive.
  Send(server_, "b");
  EXPECT_EQ(Receive(client_, 1), "b");
  relay_->Execute("heal all");
  EXPECT_EQ(Receive(client_, 1), "(reset)");
}

TEST_F(RelayTest, ACutHidesTheDeathOfAPeer) {
  Connect();
  relay_->Execute("cut ab in drop");
  close(server_);
  server_ = -1;
  Send(client_, "into the void");
  pollfd waiting = {client_, POLLIN, 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0);
}

TEST_F(RelayTest, ResetBreaksWhatIsOpenAndNothingElse) {
  Connect();
  relay_->Execute("reset ab");
  EXPECT_EQ(Receive(client_, 1), "(reset)");
  close(client_);
  close(server_);
  Connect();
  Send(client_, "again");
  EXPECT_EQ(Receive(server_, 5), "again");
}

TEST_F(RelayTest, NobodyAtTheTargetIsAnEndNotAHang) {
  relay_->Execute("target ab 127.0.0.1:1");
  client_ = ConnectTo(relay_->AddressOf("ab")).value();
  const std::string got = Receive(client_, 1);
  EXPECT_TRUE(got.empty() || got == "(reset)") << got;
}

TEST_F(RelayTest, AControlReadsLinesAndAnswersEach) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  relay_->AddControl(ends[1], ends[1], false);
  Send(ends[0], "rate ab out 10\nnonsense\nsta");
  EXPECT_EQ(Receive(ends[0], 12), "{\"ok\":true}\n");
  const std::string error =
      "{\"error\":\"\\\"nonsense\\\" with 0 words is not a command\"}\n";
  EXPECT_EQ(Receive(ends[0], error.size()), error);
  Send(ends[0], "ts\n");
  EXPECT_EQ(Receive(ends[0], 9), "{\"links\":");
  close(ends[0]);
  relay_->Execute("stats");
  relay_->Stop();
  thread_.join();
  close(ends[1]);
  thread_ = std::thread([] {});
}

TEST(RelayListenTest, AddressesThatOthersReachAreRefused) {
  EXPECT_FALSE(
      Relay::Listen({.links = {{.name = "x", .listen = "0.0.0.0:0"}}}).ok());
}

}  // namespace
}  // namespace skerry::netem
