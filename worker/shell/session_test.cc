#include "worker/shell/session.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/testing/manual_loop.h"
#include "worker/shell/testing/fake_ports.h"

namespace skerry::worker {
namespace {

constexpr SessionOptions kOptions{.backoff_min = absl::Milliseconds(100),
                                  .backoff_max = absl::Seconds(2),
                                  .jitter_seed = 7};
const absl::Status kLost = absl::UnavailableError("lost");

class SessionTest : public testing::Test {
 protected:
  void Send(uint64_t counter) {
    protocol::StatusFacts status;
    status.counter = counter;
    session_.Send(std::move(status));
  }
  void Hear() { port_.Say(protocol::Orders()); }
  // How long it is until the next stream is opened.
  absl::Duration WaitForStream() {
    const Instant since = loop_.Now();
    while (!port_.is_open()) {
      const auto next = loop_.NextTimer();
      if (!next.has_value()) return absl::InfiniteDuration();
      loop_.AdvanceTo(*next);
    }
    return loop_.Now() - since;
  }
  std::vector<uint64_t> Written() const {
    std::vector<uint64_t> counters;
    for (const auto& status : port_.written) counters.push_back(status.counter);
    return counters;
  }

  runtime::ManualLoop loop_;
  FakeSessionPort port_;
  int heard_ = 0;
  std::vector<SessionEnd> ends_;
  Session session_{kOptions, loop_, port_,
                   [this](const protocol::HeardOrders&) { ++heard_; },
                   [this](SessionEnd end) { ends_.push_back(std::move(end)); }};
};

TEST_F(SessionTest, OneStatusIsOnItsWayAndTheNewestWaits) {
  EXPECT_EQ(port_.opened, 0);
  Send(1);
  Send(2);
  Send(3);
  EXPECT_EQ(port_.opened, 1);
  EXPECT_EQ(Written(), (std::vector<uint64_t>{1}));
  port_.Written();
  EXPECT_EQ(Written(), (std::vector<uint64_t>{1, 3}));
  port_.Written();
  EXPECT_EQ(Written(), (std::vector<uint64_t>{1, 3}));
}

TEST_F(SessionTest, WhatWasNotSentGoesOverTheNextStream) {
  Send(1);
  Send(2);
  port_.End(kLost);
  EXPECT_FALSE(port_.is_open());
  Send(3);
  EXPECT_FALSE(port_.is_open()) << "it waits before the next try";
  WaitForStream();
  EXPECT_EQ(Written(), (std::vector<uint64_t>{1, 3}));
}

TEST_F(SessionTest, WaitsDoubleWithinTheirBoundsUntilOrdersCome) {
  Send(1);
  absl::Duration full = kOptions.backoff_min;
  std::vector<absl::Duration> waits;
  for (int i = 0; i < 8; ++i) {
    port_.End(kLost);
    waits.push_back(WaitForStream());
    EXPECT_GE(waits.back(), full / 2);
    EXPECT_LE(waits.back(), full);
    full = std::min(2 * full, kOptions.backoff_max);
  }
  EXPECT_NE(waits[6], waits[7]) << "they are drawn";
  Hear();
  port_.End(kLost);
  EXPECT_LE(WaitForStream(), kOptions.backoff_min);
}

TEST_F(SessionTest, AConnectionThatIsBackEndsTheWait) {
  Send(1);
  for (int i = 0; i < 6; ++i) {
    port_.End(kLost);
    WaitForStream();
  }
  port_.connected = false;
  port_.End(kLost);
  loop_.Advance(absl::Milliseconds(300));
  EXPECT_FALSE(port_.is_open());
  port_.connected = true;
  EXPECT_LE(WaitForStream(), absl::Milliseconds(50));
}

TEST_F(SessionTest, WithoutAConnectionItTriesWhenTheWaitIsOver) {
  Send(1);
  port_.connected = false;
  port_.End(kLost);
  EXPECT_LE(WaitForStream(), kOptions.backoff_min);
}

TEST_F(SessionTest, EndsOfOneKindWithoutOrdersAreRepetitions) {
  Send(1);
  port_.End(kLost);
  WaitForStream();
  port_.End(kLost);
  WaitForStream();
  port_.End(absl::AbortedError("another kind"));
  WaitForStream();
  Hear();
  port_.End(absl::AbortedError("after orders"));
  std::vector<bool> repeated;
  for (const SessionEnd& end : ends_) repeated.push_back(end.repeated);
  EXPECT_EQ(repeated, (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(ends_.back().status.message(), "after orders");
}

TEST_F(SessionTest, AfterReopeningNothingGoesOverTheFormerStream) {
  Send(1);
  port_.Written();
  session_.Reopen();
  session_.Reopen();
  EXPECT_EQ(port_.cancelled, 1);
  Send(2);
  Hear();
  EXPECT_EQ(heard_, 0);
  EXPECT_EQ(Written(), (std::vector<uint64_t>{1}));
  port_.End(absl::CancelledError(""));
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_TRUE(ends_[0].asked);
  WaitForStream();
  EXPECT_EQ(Written(), (std::vector<uint64_t>{1, 2}));
  Hear();
  EXPECT_EQ(heard_, 1);
  port_.End(kLost);
  EXPECT_FALSE(ends_[1].asked);
}

TEST_F(SessionTest, ShutdownWaitsForTheStreamAndOpensNoOther) {
  Send(1);
  bool down = false;
  session_.Shutdown([&down] { down = true; });
  EXPECT_EQ(port_.cancelled, 1);
  EXPECT_FALSE(down);
  Send(2);
  port_.End(absl::CancelledError(""));
  EXPECT_TRUE(down);
  EXPECT_TRUE(ends_.empty());
  EXPECT_EQ(WaitForStream(), absl::InfiniteDuration());
}

TEST_F(SessionTest, ShutdownBetweenTwoStreamsIsDoneAtOnce) {
  Send(1);
  port_.End(kLost);
  bool down = false;
  session_.Shutdown([&down] { down = true; });
  EXPECT_TRUE(down);
  EXPECT_EQ(WaitForStream(), absl::InfiniteDuration());
}

}  // namespace
}  // namespace skerry::worker
