// transport/testing/bulk_conformance.h
//
// What every bulk transport must do. A driver has an endpoint that sends and
// one that receives, on one loop:
//   void Start(BulkReceiver& receiver);  // makes both
//   void RestartReceiving();             // the second dies and comes back
//   void StopReceiving();
//   void StartReceiving();
//   void DestroySending();
//   BulkTransport& sending();            // from tasks of the loop only
//   BulkTransport& receiving();
//   std::string peer();                  // the name of the second
//   void Run(std::function<void()> task);             // on the loop, and waits
//   void Await(std::function<bool()> is_so);          // asked on the loop
//   void Settle();                       // lets what is under way arrive
#ifndef SKERRY_TRANSPORT_TESTING_BULK_CONFORMANCE_H_
#define SKERRY_TRANSPORT_TESTING_BULK_CONFORMANCE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "transport/testing/frames.h"
#include "transport/testing/recording_receiver.h"

namespace skerry::transport {

template <typename Driver>
class BulkConformance : public testing::Test {
 protected:
  BulkConformance() { driver_.Start(receiver_); }

  // Sends from the loop; the outcome goes to outcomes_.
  void SendHere(Frame frame, TrafficClass traffic_class = TrafficClass::kBulk) {
    const size_t index = outcomes_.size();
    outcomes_.emplace_back();
    driver_.sending().Send(driver_.peer(), std::move(frame), traffic_class,
                           [this, index](absl::Status status) {
                             outcomes_[index] = std::move(status);
                           });
  }
  void Send(Frame frame, TrafficClass traffic_class = TrafficClass::kBulk) {
    driver_.Run([&] { SendHere(std::move(frame), traffic_class); });
  }
  void AwaitOutcomes(size_t count) {
    driver_.Await([this, count] {
      return static_cast<size_t>(std::count_if(
                 outcomes_.begin(), outcomes_.end(),
                 [](const auto& o) { return o.has_value(); })) >= count;
    });
  }
  absl::StatusOr<SharedBytes> Fetch(const std::string& peer,
                                    const PieceKey& key) {
    std::optional<absl::StatusOr<SharedBytes>> got;
    driver_.Run([&] {
      driver_.sending().Fetch(peer, key,
                              [&got](absl::StatusOr<SharedBytes> object) {
                                got = std::move(object);
                              });
    });
    driver_.Await([&got] { return got.has_value(); });
    return *std::move(got);
  }
  PeerCounters Counters() {
    PeerCounters counters;
    driver_.Run(
        [&] { counters = driver_.sending().counters().to.at(driver_.peer()); });
    return counters;
  }
  static bool Same(const SharedBytes& a, const SharedBytes& b) {
    return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(),
                      b.bytes().end());
  }

  RecordingReceiver receiver_;
  std::vector<std::optional<absl::Status>> outcomes_;
  Driver driver_;
};

TYPED_TEST_SUITE_P(BulkConformance);

TYPED_TEST_P(BulkConformance, FramesArriveWholeOnceAndInOrder) {
  const std::vector<size_t> sizes = {
      1, 0, 64, 1000, 16384, 65537, 1 << 18, 1 << 20, (1 << 20) - 1};
  std::vector<Frame> frames;
  for (uint32_t i = 0; i < 40; ++i) {
    frames.push_back(MakeFrame(1, i, sizes[i % sizes.size()]));
  }
  this->driver_.Run([&] {
    for (const Frame& frame : frames) this->SendHere(frame);
  });
  this->AwaitOutcomes(frames.size());
  ASSERT_EQ(this->receiver_.frames.size(), frames.size());
  for (size_t i = 0; i < frames.size(); ++i) {
    EXPECT_TRUE(this->outcomes_[i]->ok());
    EXPECT_EQ(this->receiver_.frames[i].header, frames[i].header);
    EXPECT_TRUE(
        this->Same(this->receiver_.frames[i].payload, frames[i].payload));
  }
  const PeerCounters counters = this->Counters();
  EXPECT_EQ(counters.frames_sent, frames.size());
  EXPECT_EQ(counters.frames_accepted, frames.size());
  EXPECT_EQ(counters.frames_resent, 0u);
}

TYPED_TEST_P(BulkConformance, BothClassesGetThrough) {
  this->Send(MakeFrame(1, 0, 100), TrafficClass::kLatency);
  this->Send(MakeFrame(1, 1, 100), TrafficClass::kBulk);
  this->AwaitOutcomes(2);
  EXPECT_EQ(this->receiver_.frames.size(), 2u);
}

TYPED_TEST_P(BulkConformance, ARefusedFrameIsAbortedAndNotSentAgain) {
  this->driver_.Run([&] { this->receiver_.attempt = 5; });
  this->Send(MakeFrame(4, 0, 100));
  this->Send(MakeFrame(5, 1, 100));
  this->AwaitOutcomes(2);
  EXPECT_EQ(this->outcomes_[0]->code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(this->outcomes_[1]->ok());
  EXPECT_EQ(this->Counters().frames_refused, 1u);
  EXPECT_EQ(this->Counters().frames_sent, 2u);
}

TYPED_TEST_P(BulkConformance, FramesOfANewerAttemptWaitAndCrossTheWireOnce) {
  this->driver_.Run([&] {
    for (uint32_t i = 0; i < 10; ++i) this->SendHere(MakeFrame(2, i, 1000));
  });
  this->driver_.Await([&] { return this->receiver_.offers > 0; });
  this->driver_.Run([&] {
    EXPECT_TRUE(this->receiver_.frames.empty());
    this->receiver_.attempt = 2;
    this->driver_.receiving().Reoffer(7, 3);
  });
  this->AwaitOutcomes(10);
  ASSERT_EQ(this->receiver_.frames.size(), 10u);
  for (uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(this->receiver_.frames[i].header.part, i);
  }
  EXPECT_EQ(this->Counters().frames_sent, 10u);
}

TYPED_TEST_P(BulkConformance, WithoutAWordFromTheReceiverTheyAreOfferedAgain) {
  this->Send(MakeFrame(2, 0, 1000));
  this->driver_.Await([&] { return this->receiver_.offers > 0; });
  this->driver_.Run([&] { this->receiver_.attempt = 2; });
  this->AwaitOutcomes(1);
  EXPECT_TRUE(this->outcomes_[0]->ok());
}

TYPED_TEST_P(BulkConformance, ADamagedFrameIsNeverOfferedAndGivenUpInTheEnd) {
  Frame damaged = MakeFrame(1, 0, 1000);
  damaged.header.payload_hash ^= 1;
  this->Send(damaged);
  this->Send(MakeFrame(1, 1, 1000));
  this->AwaitOutcomes(2);
  EXPECT_EQ(this->outcomes_[0]->code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(this->outcomes_[1]->ok());
  EXPECT_EQ(this->receiver_.offers, 1u);
  EXPECT_GE(this->Counters().frames_corrupt, 2u);
}

TYPED_TEST_P(BulkConformance, NothingIsLostWhenTheReceiverDiesAndComesBack) {
  // Held by the first life and lost with it.
  this->driver_.Run([&] {
    for (uint32_t i = 0; i < 20; ++i) this->SendHere(MakeFrame(2, i, 50000));
  });
  this->driver_.Await([&] { return this->receiver_.offers > 0; });
  this->driver_.RestartReceiving();
  this->driver_.Run([&] { this->receiver_.attempt = 2; });
  this->AwaitOutcomes(20);
  std::vector<bool> seen(20);
  for (const Frame& frame : this->receiver_.frames) {
    seen[frame.header.part] = true;
  }
  EXPECT_EQ(seen, std::vector<bool>(20, true));
  EXPECT_GE(this->Counters().streams_lost, 1u);
}

TYPED_TEST_P(BulkConformance, FramesForAPeerThatIsNotThereYetWaitForIt) {
  this->driver_.StopReceiving();
  this->Send(MakeFrame(1, 0, 1000));
  this->driver_.Settle();
  EXPECT_FALSE(this->outcomes_[0].has_value());
  this->driver_.StartReceiving();
  this->AwaitOutcomes(1);
  EXPECT_TRUE(this->outcomes_[0]->ok());
}

TYPED_TEST_P(BulkConformance, ForgetBeforeCancelsOlderAttemptsAlone) {
  this->driver_.StopReceiving();
  this->driver_.Run([&] {
    this->SendHere(MakeFrame(1, 0, 1000));
    this->SendHere(MakeFrame(2, 0, 1000));
    Frame other = MakeFrame(1, 1, 1000);
    other.header.fragment = 4;
    this->SendHere(other);
    this->driver_.sending().ForgetBefore(7, 3, 2);
    // Never inside the call.
    EXPECT_FALSE(this->outcomes_[0].has_value());
  });
  this->AwaitOutcomes(1);
  EXPECT_EQ(this->outcomes_[0]->code(), absl::StatusCode::kCancelled);
  this->driver_.Run([&] { this->receiver_.attempt = 2; });
  this->driver_.StartReceiving();
  this->AwaitOutcomes(3);
  EXPECT_TRUE(this->outcomes_[1]->ok());
  EXPECT_EQ(this->outcomes_[2]->code(), absl::StatusCode::kAborted);
}

TYPED_TEST_P(BulkConformance, AnObjectIsFetchedWholeOrTheErrorSaysWhy) {
  for (const size_t size : {size_t{0}, size_t{5}, (size_t{7} << 19) + 3}) {
    PieceKey key{
        .sequence = Sequence(9), .span = 3, .fragment = 2, .job = JobId(1)};
    const SharedBytes object = RandomPayload(size, size);
    key.hash = Hash64(object.bytes());
    this->driver_.Run([&] { this->receiver_.objects[key] = object; });
    const auto got = this->Fetch(this->driver_.peer(), key);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(this->Same(*got, object));

    key.hash ^= 1;
    this->driver_.Run([&] { this->receiver_.objects[key] = object; });
    EXPECT_EQ(this->Fetch(this->driver_.peer(), key).status().code(),
              absl::StatusCode::kDataLoss);
    key.kind = PieceKey::Kind::kResult;
    EXPECT_EQ(this->Fetch(this->driver_.peer(), key).status().code(),
              absl::StatusCode::kNotFound);
  }
  EXPECT_EQ(this->Counters().fetches_done, 3u);
  EXPECT_EQ(this->Counters().fetches_failed, 6u);
  this->driver_.StopReceiving();
  EXPECT_EQ(this->Fetch(this->driver_.peer(), {}).status().code(),
            absl::StatusCode::kUnavailable);
}

TYPED_TEST_P(BulkConformance, AChunkOfDataIsSentOnceItHasBeenRead) {
  using Answer = absl::StatusOr<SharedBytes>;
  PieceKey key{.kind = PieceKey::Kind::kData,
               .job = JobId(1),
               .file = 7,
               .offset_bytes = kDataChunkBytes};
  const Answer answers[] = {RandomPayload(1, kDataChunkBytes), SharedBytes(),
                            absl::NotFoundError("no such file"), SharedBytes()};
  for (size_t i = 0; i < std::size(answers); ++i) {
    std::optional<Answer> got;
    this->driver_.Run([&] {
      this->driver_.sending().Fetch(
          this->driver_.peer(), key,
          [&got](Answer object) { got = std::move(object); });
    });
    auto& asked = this->receiver_.data_asked;
    this->driver_.Await([&] { return asked.size() == 1; });
    EXPECT_EQ(asked[0].first, key);
    EXPECT_FALSE(got.has_value());
    // The last answer comes when the holder has gone, and does no harm.
    const bool is_last = i + 1 == std::size(answers);
    if (is_last) this->driver_.StopReceiving();
    this->driver_.Run([&] { std::move(asked[0].second)(answers[i]); });
    this->driver_.Await([&] { return got.has_value(); });
    this->driver_.Run([&] { asked.clear(); });
    if (is_last) break;
    ASSERT_EQ(got->status().code(), answers[i].status().code());
    if (got->ok()) {
      EXPECT_TRUE(this->Same(**got, *answers[i]));
    }
  }
}

TYPED_TEST_P(BulkConformance, AfterItsEndNoCallbackRuns) {
  this->driver_.Run([&] {
    this->SendHere(MakeFrame(2, 0, 1000));
    this->driver_.sending().Fetch(
        this->driver_.peer(), {},
        [](absl::StatusOr<SharedBytes>) { ADD_FAILURE() << "ran"; });
    this->driver_.DestroySending();
  });
  this->driver_.Settle();
  EXPECT_FALSE(this->outcomes_[0].has_value());
}

REGISTER_TYPED_TEST_SUITE_P(BulkConformance, FramesArriveWholeOnceAndInOrder,
                            BothClassesGetThrough,
                            ARefusedFrameIsAbortedAndNotSentAgain,
                            FramesOfANewerAttemptWaitAndCrossTheWireOnce,
                            WithoutAWordFromTheReceiverTheyAreOfferedAgain,
                            ADamagedFrameIsNeverOfferedAndGivenUpInTheEnd,
                            NothingIsLostWhenTheReceiverDiesAndComesBack,
                            FramesForAPeerThatIsNotThereYetWaitForIt,
                            ForgetBeforeCancelsOlderAttemptsAlone,
                            AnObjectIsFetchedWholeOrTheErrorSaysWhy,
                            AChunkOfDataIsSentOnceItHasBeenRead,
                            AfterItsEndNoCallbackRuns);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_TESTING_BULK_CONFORMANCE_H_
