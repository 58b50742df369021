#include "transport/outbox.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/testing/manual_loop.h"
#include "transport/testing/frames.h"

namespace skerry::transport {
namespace {

// Streams that write only when told to.
class FakeOpener final : public StreamOpener {
 public:
  struct Stream {
    int index = 0;
    StreamEvents* events = nullptr;
    std::vector<uint32_t> parts;  // written so far
    bool is_open = true;
  };
  std::unique_ptr<OutgoingStream> Open(const std::string& peer,
                                       int stream_index,
                                       StreamEvents& events) override {
    streams.push_back(std::make_unique<Stream>());
    streams.back()->index = stream_index;
    streams.back()->events = &events;
    return std::make_unique<Handle>(*streams.back());
  }
  std::vector<std::unique_ptr<Stream>> streams;

 private:
  class Handle final : public OutgoingStream {
   public:
    explicit Handle(Stream& stream) : stream_(stream) {}
    ~Handle() override { stream_.is_open = false; }
    void Write(const Frame& frame) override {
      stream_.parts.push_back(frame.header.part);
    }

   private:
    Stream& stream_;
  };
};

class OutboxTest : public testing::Test {
 protected:
  void Send(uint32_t part, TrafficClass traffic_class) {
    outbox_.Send("peer", MakeFrame(1, part, 10), traffic_class,
                 [this](absl::Status) { ++done_; });
  }
  FakeOpener::Stream& Stream(size_t i) { return *opener_.streams.at(i); }
  void Accept(size_t stream, uint64_t ordinal) {
    const Answered answered{ordinal, Answer::kAccepted};
    Stream(stream).events->OnAnswers({&answered, 1});
  }

  runtime::ManualLoop loop_;
  FakeOpener opener_;
  OutboxOptions options_{.bulk_streams_per_peer = 2,
                         .frames_per_stream_max = 2};
  Outbox outbox_{options_, loop_, opener_, 1};
  int done_ = 0;
};

TEST_F(OutboxTest, StreamsAreOpenedWhenTheirClassHasSomethingToSend) {
  EXPECT_TRUE(opener_.streams.empty());
  Send(0, TrafficClass::kBulk);
  ASSERT_EQ(opener_.streams.size(), 1u);
  EXPECT_EQ(Stream(0).index, 1);
  Send(1, TrafficClass::kLatency);
  ASSERT_EQ(opener_.streams.size(), 2u);
  EXPECT_EQ(Stream(1).index, 0);
}

TEST_F(OutboxTest, BulkWaitsWhileAnUrgentFrameWaitsToBeWritten) {
  for (uint32_t i = 0; i < 3; ++i) Send(i, TrafficClass::kLatency);
  EXPECT_EQ(Stream(0).parts.size(), 2u);
  Send(10, TrafficClass::kBulk);
  EXPECT_EQ(opener_.streams.size(), 1u);
  Stream(0).events->OnWritten();
  EXPECT_EQ(Stream(0).parts.size(), 3u);
  EXPECT_EQ(Stream(1).parts, std::vector<uint32_t>{10});
}

TEST_F(OutboxTest, AClosedUrgentStreamDoesNotHoldUpBulk) {
  Send(0, TrafficClass::kLatency);
  Stream(0).events->OnClosed(absl::UnavailableError("gone"));
  Send(1, TrafficClass::kBulk);
  EXPECT_EQ(Stream(1).parts, std::vector<uint32_t>{1});
}

TEST_F(OutboxTest, BulkIsSpreadOverItsStreamsAsTheyHaveRoom) {
  for (uint32_t i = 0; i < 6; ++i) Send(i, TrafficClass::kBulk);
  EXPECT_EQ(Stream(0).parts, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(Stream(1).parts, (std::vector<uint32_t>{2, 3}));
  Stream(1).events->OnWritten();
  EXPECT_EQ(Stream(1).parts, (std::vector<uint32_t>{2, 3, 4}));
}

TEST_F(OutboxTest, ALostStreamsFramesGoByTheOtherAtOnce) {
  Send(0, TrafficClass::kBulk);
  Stream(0).events->OnClosed(absl::UnavailableError("gone"));
  EXPECT_FALSE(Stream(0).is_open);
  EXPECT_EQ(Stream(1).parts, std::vector<uint32_t>{0});
}

TEST_F(OutboxTest, APeerThatAnswersNothingForLongIsUnreached) {
  loop_.Advance(absl::Minutes(1));
  Send(0, TrafficClass::kBulk);
  loop_.Advance(absl::Seconds(29));
  EXPECT_TRUE(outbox_.unreached().empty());
  loop_.Advance(absl::Seconds(1));
  EXPECT_EQ(outbox_.unreached(), std::vector<std::string>{"peer"});
  // Any answer shows that it is there.
  Send(1, TrafficClass::kBulk);
  Accept(0, 0);
  EXPECT_TRUE(outbox_.unreached().empty());
  loop_.Advance(absl::Seconds(30));
  EXPECT_EQ(outbox_.unreached(), std::vector<std::string>{"peer"});
  outbox_.ForgetBefore(7, 3, 2);
  EXPECT_TRUE(outbox_.unreached().empty());
}

TEST_F(OutboxTest, ALostStreamIsOpenedAgainAfterAGrowingWait) {
  Send(0, TrafficClass::kLatency);
  absl::Duration wait;
  for (size_t i = 0; i < 12; ++i) {
    const Instant lost_at = loop_.Now();
    Stream(i).events->OnClosed(absl::UnavailableError("gone"));
    EXPECT_FALSE(Stream(i).is_open);
    ASSERT_EQ(opener_.streams.size(), i + 1);
    while (opener_.streams.size() == i + 1) {
      ASSERT_TRUE(loop_.NextTimer().has_value());
      loop_.AdvanceTo(*loop_.NextTimer());
    }
    wait = loop_.Now() - lost_at;
    EXPECT_GE(wait, options_.reopen_min / 2);
    EXPECT_LE(wait, options_.reopen_max);
    EXPECT_EQ(Stream(i + 1).parts, std::vector<uint32_t>{0});
  }
  EXPECT_GE(wait, options_.reopen_max / 2);
  EXPECT_EQ(outbox_.counters().at("peer").frames_resent, 12u);
}

TEST_F(OutboxTest, ALostStreamStaysClosedWhenNothingWaits) {
  Send(0, TrafficClass::kBulk);
  Accept(0, 0);
  Stream(0).events->OnClosed(absl::UnavailableError("gone"));
  loop_.Advance(absl::Hours(1));
  EXPECT_EQ(done_, 1);
  EXPECT_EQ(opener_.streams.size(), 1u);
}

TEST_F(OutboxTest, AnswersToNumbersNeverWrittenAreIgnored) {
  Send(0, TrafficClass::kBulk);
  Accept(0, 99);
  Accept(0, 0);
  Accept(0, 0);
  loop_.RunUntilIdle();
  EXPECT_EQ(done_, 1);
}

TEST_F(OutboxTest, FramesThatWereForgottenTellOfTheLinkAndFillIt) {
  constexpr int kFrames = 40;
  constexpr size_t kBytes = 16 * 1024;
  const auto send = [this](uint64_t attempt) {
    for (uint32_t i = 0; i < kFrames; ++i) {
      outbox_.Send("peer", MakeFrame(attempt, i, kBytes), TrafficClass::kBulk,
                   [this](absl::Status) { ++done_; });
    }
    // As its writes end.
    for (int i = 0; i < 2 * kFrames; ++i) Stream(0).events->OnWritten();
  };
  // At a frame every 100 ms no attempt ends in time, and nothing is answered
  // but what was forgotten.
  uint64_t arrived = 0;
  size_t written = 0;
  for (uint64_t attempt = 1; attempt <= 3; ++attempt) {
    outbox_.ForgetBefore(7, 3, attempt);
    send(attempt);
    written = Stream(0).parts.size();
    for (int i = 0; i < 20; ++i) {
      loop_.Advance(absl::Milliseconds(100));
      Accept(0, arrived++);
    }
  }
  const auto links = outbox_.links();
  ASSERT_TRUE(links.contains("peer"));
  EXPECT_NEAR(links.at("peer").bytes_per_s, 10.0 * kBytes, 100);
  // 256 KiB, not all that three attempts had.
  EXPECT_LE(written - (arrived - 20), 256u * 1024 / kBytes + 20);
  EXPECT_LT(written, 3u * kFrames);
}

TEST_F(OutboxTest, APeerThatMovedGetsWhatItHasNotAnsweredByANewStreamAtOnce) {
  for (uint32_t i = 0; i < 3; ++i) Send(i, TrafficClass::kLatency);
  Accept(0, 0);
  outbox_.OnMoved("peer");
  EXPECT_FALSE(Stream(0).is_open);
  ASSERT_EQ(opener_.streams.size(), 2u);
  EXPECT_EQ(Stream(1).parts, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(outbox_.counters().at("peer").streams_lost, 0u);
  outbox_.OnMoved("somebody else");
  EXPECT_EQ(opener_.streams.size(), 2u);
}

TEST_F(OutboxTest, APeerThatMovedIsNotWaitedForAsALostOneIs) {
  Send(0, TrafficClass::kLatency);
  for (size_t i = 0; i < 8; ++i) {
    Stream(i).events->OnClosed(absl::UnavailableError("gone"));
    while (opener_.streams.size() == i + 1) loop_.AdvanceTo(*loop_.NextTimer());
  }
  Stream(8).events->OnClosed(absl::UnavailableError("gone"));
  ASSERT_EQ(opener_.streams.size(), 9u);
  outbox_.OnMoved("peer");
  ASSERT_EQ(opener_.streams.size(), 10u);
  EXPECT_EQ(Stream(9).parts, std::vector<uint32_t>{0});
}

TEST(OutboxBoundTest, WhatDoesNotFitTheQueueIsRefusedAtOnce) {
  runtime::ManualLoop loop;
  FakeOpener opener;
  Outbox outbox({.queue = {.frames_max = 1}}, loop, opener, 1);
  std::vector<absl::Status> outcomes;
  for (uint32_t i = 0; i < 2; ++i) {
    outbox.Send("peer", MakeFrame(1, i, 10), TrafficClass::kBulk,
                [&outcomes](absl::Status s) { outcomes.push_back(s); });
  }
  loop.RunUntilIdle();
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace skerry::transport
