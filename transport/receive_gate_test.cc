#include "transport/receive_gate.h"

#include <gtest/gtest.h>

#include "transport/testing/frames.h"
#include "transport/testing/recording_receiver.h"

namespace skerry::transport {
namespace {

class ReceiveGateTest : public testing::Test {
 protected:
  Answer Offer(uint64_t attempt, uint32_t part) {
    const Frame frame = MakeFrame(attempt, part, 100);
    return gate_.Offer(part, frame.header, frame.payload, now_);
  }

  ReceiveGateOptions options_{.held_bytes_max = 250};
  RecordingReceiver receiver_;
  SourceCounters counters_;
  ReceiveGate gate_{"peer", options_, receiver_, counters_};
  Instant now_ = Instant(absl::Seconds(50));
};

TEST_F(ReceiveGateTest, TheReceiversWordIsTheAnswer) {
  receiver_.attempt = 2;
  EXPECT_EQ(Offer(2, 0), Answer::kAccepted);
  EXPECT_EQ(Offer(1, 1), Answer::kRefused);
  EXPECT_EQ(counters_.frames_received, 2u);
  EXPECT_EQ(counters_.frames_refused, 1u);
}

TEST_F(ReceiveGateTest, KeptFramesAreOfferedAgainInOrder) {
  EXPECT_EQ(Offer(2, 0), Answer::kHeld);
  receiver_.attempt = 2;
  // Behind the first, though the receiver would take it now.
  EXPECT_EQ(Offer(2, 1), Answer::kHeld);
  const std::vector<Answered> expected = {{0, Answer::kAccepted},
                                          {1, Answer::kAccepted}};
  EXPECT_EQ(gate_.Reoffer(7, 3, now_), expected);
  EXPECT_EQ(receiver_.frames[1].header.part, 1u);
  EXPECT_FALSE(gate_.NextWork().has_value());
}

TEST_F(ReceiveGateTest, WhatBecomesOldWhileKeptIsRefused) {
  Offer(2, 0);
  receiver_.attempt = 3;
  EXPECT_EQ(gate_.Retry(*gate_.NextWork()),
            (std::vector<Answered>{{0, Answer::kRefused}}));
}

TEST_F(ReceiveGateTest, WhatDoesNotFitIsGivenBackAndRoomReturns) {
  EXPECT_EQ(Offer(2, 0), Answer::kHeld);
  EXPECT_EQ(Offer(2, 1), Answer::kHeld);
  EXPECT_EQ(Offer(2, 2), Answer::kNotYet);
  receiver_.attempt = 2;
  gate_.Reoffer(7, 3, now_);
  EXPECT_EQ(Offer(3, 3), Answer::kHeld);
}

TEST_F(ReceiveGateTest, AFlowIsGivenBackAfterTheLongestWait) {
  Offer(2, 0);
  Offer(2, 1);
  std::vector<Answered> answers;
  int tries = 0;
  const Instant begin = now_;
  while (answers.empty()) {
    ASSERT_LT(++tries, 1000);
    now_ = *gate_.NextWork();
    answers = gate_.Retry(now_);
  }
  EXPECT_EQ(answers, (std::vector<Answered>{{0, Answer::kNotYet},
                                            {1, Answer::kNotYet}}));
  EXPECT_GE(now_ - begin, options_.held_max);
  EXPECT_LE(now_ - begin, options_.held_max + options_.retry_max);
  EXPECT_FALSE(gate_.NextWork().has_value());
}

TEST_F(ReceiveGateTest, ReofferLeavesOtherFragmentsAlone) {
  Offer(2, 0);
  const uint64_t offers = receiver_.offers;
  EXPECT_TRUE(gate_.Reoffer(7, 4, now_).empty());
  EXPECT_TRUE(gate_.Reoffer(8, 3, now_).empty());
  EXPECT_EQ(receiver_.offers, offers);
}

}  // namespace
}  // namespace skerry::transport
