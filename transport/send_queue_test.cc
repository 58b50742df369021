#include "transport/send_queue.h"

#include <gtest/gtest.h>

#include "transport/testing/frames.h"

namespace skerry::transport {
namespace {

constexpr TrafficClass kBulk = TrafficClass::kBulk;
constexpr TrafficClass kLatency = TrafficClass::kLatency;

class SendQueueTest : public testing::Test {
 protected:
  void Push(uint64_t attempt, uint32_t part, TrafficClass traffic_class = kBulk,
            size_t size = 100) {
    queue_.Push(MakeFrame(attempt, part, size), traffic_class,
                [](absl::Status) {});
  }
  // The part of the next frame, or -1; its ticket goes to ticket_.
  int Next(TrafficClass traffic_class = kBulk) {
    const auto outgoing = queue_.Next(traffic_class, now_);
    if (!outgoing.has_value()) return -1;
    ticket_ = outgoing->ticket;
    return static_cast<int>(outgoing->frame->header.part);
  }
  auto Say(Answer answer) { return queue_.OnAnswer(ticket_, answer, now_); }

  SendQueueOptions options_{.unanswered_bytes_max = {250, 250},
                            .corrupt_max = 2};
  SendQueue queue_{options_, 1};
  Instant now_ = Instant(absl::Seconds(100));
  SendQueue::Ticket ticket_ = 0;
};

TEST_F(SendQueueTest, FramesLeaveInOrderOfPushAcrossAttempts) {
  Push(1, 0);
  Push(2, 1);
  Push(1, 2);
  for (int part = 0; part < 3; ++part) {
    EXPECT_EQ(Next(), part);
    EXPECT_TRUE(Say(Answer::kAccepted)->status.ok());
  }
  EXPECT_TRUE(queue_.empty());
}

TEST_F(SendQueueTest, UnansweredBytesAreBoundedPerClassButOneFrameMayAlwaysGo) {
  for (uint32_t i = 0; i < 3; ++i) Push(1, i);
  Push(1, 9, kLatency, 1000);
  EXPECT_EQ(Next(), 0);
  EXPECT_EQ(Next(), 1);
  EXPECT_EQ(Next(), -1);
  EXPECT_TRUE(queue_.HasWaiting(kBulk));
  Say(Answer::kAccepted);
  EXPECT_EQ(Next(), 2);
  EXPECT_EQ(Next(kLatency), 9);
}

TEST_F(SendQueueTest, WhatIsForgottenOnItsWayStillFillsTheLink) {
  queue_.set_under_way_bytes_max(150);
  Push(1, 0);
  Push(1, 1);
  EXPECT_EQ(Next(), 0);
  EXPECT_EQ(queue_.ForgetBefore(7, 3, 2).size(), 2u);
  Push(2, 2);
  EXPECT_EQ(Next(), -1);
  EXPECT_FALSE(Say(Answer::kRefused).has_value());
  EXPECT_EQ(Next(), 2);
  Push(2, 3);
  EXPECT_EQ(Next(), -1);
  const SendQueue::Ticket lost[] = {ticket_};
  queue_.OnLost(lost);
  EXPECT_EQ(Next(), 2);
}

TEST_F(SendQueueTest, WhatTheReceiverHoldsIsNotOnItsWay) {
  queue_.set_under_way_bytes_max(150);
  Push(2, 0);
  Push(1, 1);
  EXPECT_EQ(Next(), 0);
  EXPECT_EQ(Next(), -1);
  EXPECT_FALSE(Say(Answer::kHeld).has_value());
  EXPECT_EQ(Next(), 1);
  EXPECT_EQ(queue_.ForgetBefore(7, 3, 3).size(), 2u);
  EXPECT_FALSE(Say(Answer::kAccepted).has_value());
}

TEST_F(SendQueueTest, WhatALostStreamCarriedGoesAgainInItsOldOrder) {
  for (uint32_t i = 0; i < 3; ++i) Push(1, i);
  Next();
  const SendQueue::Ticket first = ticket_;
  Next();
  const SendQueue::Ticket lost[] = {ticket_, first};
  queue_.OnLost(lost);
  EXPECT_EQ(Next(), 0);
  EXPECT_EQ(Next(), 1);
  EXPECT_EQ(queue_.counters().frames_sent, 4u);
  EXPECT_EQ(queue_.counters().frames_resent, 2u);
}

TEST_F(SendQueueTest, AHeldAttemptStopsAndOthersGoOn) {
  Push(2, 0);
  Push(2, 1);
  Push(1, 2);
  EXPECT_EQ(Next(), 0);
  const SendQueue::Ticket held = ticket_;
  EXPECT_FALSE(Say(Answer::kHeld).has_value());
  EXPECT_EQ(Next(), 2);
  Say(Answer::kAccepted);
  EXPECT_EQ(Next(), -1);
  EXPECT_FALSE(queue_.NextWork(now_).has_value());
  ticket_ = held;
  Say(Answer::kAccepted);
  EXPECT_EQ(Next(), 1);
}

TEST_F(SendQueueTest, AfterNotYetOneFrameAsksBeforeTheRestFollows) {
  Push(2, 0);
  Push(2, 1);
  Next();
  Say(Answer::kNotYet);
  EXPECT_EQ(Next(), -1);
  now_ = *queue_.NextWork(now_);
  EXPECT_EQ(Next(), 0);
  EXPECT_EQ(Next(), -1);
  Say(Answer::kAccepted);
  EXPECT_EQ(Next(), 1);
}

TEST_F(SendQueueTest, TheBackOffGrowsToItsBoundAndOneVolleyCountsOnce) {
  Push(2, 0);
  Push(2, 1);
  Next();
  const SendQueue::Ticket first = ticket_;
  Next();
  Say(Answer::kNotYet);
  const Instant after_one = *queue_.NextWork(now_);
  ticket_ = first;
  Say(Answer::kNotYet);
  EXPECT_EQ(*queue_.NextWork(now_), after_one);
  absl::Duration wait;
  for (int i = 0; i < 20; ++i) {
    now_ = *queue_.NextWork(now_);
    Next();
    Say(Answer::kNotYet);
    wait = *queue_.NextWork(now_) - now_;
    EXPECT_LE(wait, options_.retry_max);
  }
  EXPECT_GE(wait, options_.retry_max / 2);
}

TEST_F(SendQueueTest, ADamagedFrameIsGivenUpAtTheBound) {
  Push(1, 0);
  EXPECT_EQ(Next(), 0);
  EXPECT_FALSE(Say(Answer::kCorrupt).has_value());
  EXPECT_EQ(Next(), 0);
  EXPECT_EQ(Say(Answer::kCorrupt)->status.code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(SendQueueTest, ForgettingFreesTheWindowAndLateAnswersMeanNothing) {
  Push(1, 0, kBulk, 250);
  Push(1, 1);
  Push(2, 2);
  EXPECT_EQ(Next(), 0);
  EXPECT_EQ(queue_.ForgetBefore(7, 3, 2).size(), 2u);
  EXPECT_FALSE(Say(Answer::kAccepted).has_value());
  EXPECT_EQ(Next(), 2);
  EXPECT_TRUE(Say(Answer::kAccepted).has_value());
  EXPECT_TRUE(queue_.empty());
}

}  // namespace
}  // namespace skerry::transport
