// Streaming DiLoCo (arXiv 2501.18512) on the toy: fragments that are exchanged
// in turn cost nothing; results that land some steps late cost little, unless
// much of what workers have by themselves is kept then. It costs in losses of
// the training samples, which this toy learns by heart: what slows it looks
// good in those of the test samples.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "compression/codec.h"
#include "compression/testing/toy_model.h"
#include "gtest/gtest.h"
#include "research/ablation/outer_loop.h"

namespace skerry::compression {
namespace {

constexpr size_t kCount = ToyModel::kParameters;
constexpr uint64_t kSeeds[] = {1, 2, 3, 4};

struct Stream {
  uint64_t inner_steps = 20;  // between two exchanges of a fragment
  size_t fragments = 4;
  uint64_t flight = 0;  // tau: steps from sending to landing
  // a: of what is landed on. 0 drops the steps of a flight, 1 the result.
  float kept = 0.0f;
  std::shared_ptr<const Codec> codec = Dense(CodecId::kRawF32);
  uint64_t steps = 2000;
};

// Which parameters, and the sum of what workers sent of them.
struct Flight {
  size_t begin = 0;
  size_t end = 0;
  uint64_t lands = 0;  // after so many steps
  std::vector<float> sum;
};

class Streaming {
 public:
  Streaming(const ToyModel& model, const Stream& stream)
      : model_(model),
        stream_(stream),
        anchor_(model.FirstParameters()),
        momentum_(kCount, 0.0f),
        workers_(kToyWorkers, ToyWorker(anchor_)) {}

  // The anchors of all fragments after all steps, and once what was in flight
  // then has landed.
  std::vector<float> Train() {
    for (uint64_t done = 1; done <= stream_.steps; ++done) {
      for (int n = 0; n < kToyWorkers; ++n) {
        workers_[n].Step(model_, n, done - 1, stream_.steps);
      }
      for (size_t p = 0; p < stream_.fragments; ++p) {
        if (done % stream_.inner_steps == Turn(p)) Send(p, done);
      }
      Land(done);
    }
    Land(stream_.steps + stream_.flight);
    return anchor_;
  }

 private:
  // Turns are as far apart as they can be; the last is at a round's end.
  uint64_t Turn(size_t p) const {
    const uint64_t end = (p + 1) * stream_.inner_steps / stream_.fragments;
    return end % stream_.inner_steps;
  }

  void Send(size_t p, uint64_t done) {
    Flight flight{p * kCount / stream_.fragments,
                  (p + 1) * kCount / stream_.fragments,
                  done + stream_.flight,
                  {}};
    const size_t size = flight.end - flight.begin;
    flight.sum.assign(size, 0.0f);
    std::vector<float> delta(size);
    for (ToyWorker& worker : workers_) {
      for (size_t i = 0; i < size; ++i) {
        const size_t at = flight.begin + i;
        delta[i] = anchor_[at] - worker.live()[at];
      }
      SKERRY_CHECK(stream_.codec->Encode(delta, payload_).ok());
      SKERRY_CHECK(stream_.codec->DecodeAdd(payload_, flight.sum).ok());
    }
    in_flight_.push_back(flight);
  }

  void Land(uint64_t done) {
    while (!in_flight_.empty() && in_flight_.front().lands <= done) {
      const Flight& flight = in_flight_.front();
      const size_t size = flight.sum.size();
      ToyOuterStep({}, flight.sum,
                   std::span(anchor_).subspan(flight.begin, size),
                   std::span(momentum_).subspan(flight.begin, size));
      for (ToyWorker& worker : workers_) {
        for (size_t at = flight.begin; at < flight.end; ++at) {
          float& live = worker.live()[at];
          live = anchor_[at] + stream_.kept * (live - anchor_[at]);
        }
      }
      in_flight_.erase(in_flight_.begin());
    }
  }

  const ToyModel& model_;
  const Stream stream_;
  std::vector<float> anchor_;
  std::vector<float> momentum_;
  std::vector<ToyWorker> workers_;
  std::vector<Flight> in_flight_;  // what lands first comes first
  std::vector<std::byte> payload_;
};

struct Both {
  Spread test;
  Spread train;
};

// Over all seeds, of what `train` makes of a model.
template <typename Train>
Both MeasureAny(const std::string& name, uint64_t inner_steps, Train train) {
  std::vector<double> test;
  std::vector<double> of_train;
  for (const uint64_t seed : kSeeds) {
    const ToyModel model(seed);
    const std::vector<float> anchor = train(model);
    test.push_back(model.TestLoss(anchor));
    of_train.push_back(model.TrainLoss(anchor));
  }
  const Both both = {SpreadOf(test), SpreadOf(of_train)};
  std::printf(
      "H %d, %-24s %.4f +- %.4f, of the training samples %.4f +- %.4f\n",
      static_cast<int>(inner_steps), name.c_str(), both.test.mean,
      both.test.deviation, both.train.mean, both.train.deviation);
  std::fflush(stdout);
  return both;
}

Both Measure(const std::string& name, const Stream& stream) {
  return MeasureAny(name, stream.inner_steps, [&](const ToyModel& model) {
    return Streaming(model, stream).Train();
  });
}

Both MeasureRounds(uint64_t inner_steps) {
  OuterLoop loop{Dense(CodecId::kRawF32)};
  loop.inner_steps = inner_steps;
  return MeasureAny("in rounds", inner_steps, [&](const ToyModel& model) {
    return TrainInRounds(model, loop);
  });
}

Stream Late(float kept, CodecId id = CodecId::kRawF32) {
  return {20, 4, 4, kept, Dense(id)};
}

void ExpectSame(const Both& some, const Both& others) {
  EXPECT_LT(std::fabs(some.test.mean - others.test.mean),
            2 * others.test.deviation);
  EXPECT_LT(std::fabs(some.train.mean - others.train.mean),
            2 * others.train.deviation);
}

TEST(StreamingAblation, TurnsCostNothingFlightsLittleAndKeepingThemMuch) {
  const Both rounds = MeasureRounds(20);
  EXPECT_LT(rounds.train.mean, 0.3);  // it learns at all: chance is 1.386
  ExpectSame(Measure("tau 0", {}), rounds);
  const double full = rounds.train.mean;
  const Spread dropped = Measure("tau 4, a 0", Late(0.0f)).train;
  EXPECT_GT(dropped.mean, full + rounds.train.deviation);
  EXPECT_LT(dropped.mean, 1.15 * full);
  const Both half = Measure("tau 4, a 0.5", Late(0.5f));
  EXPECT_GT(half.train.mean, 1.25 * full);
  EXPECT_GT(half.train.mean, dropped.mean + 3 * dropped.deviation);
  ExpectSame(Measure("tau 4, a 0.5, e3m0", Late(0.5f, CodecId::kE3m0)), half);
  // Workers that never take a result train apart: what is wrong with a, at its
  // worst.
  const Spread apart = Measure("tau 4, a 1", Late(1.0f)).train;
  EXPECT_GT(apart.mean, 1.5 * full);
  EXPECT_GT(apart.mean, half.train.mean + 3 * half.train.deviation);
}

TEST(StreamingAblation, OneFragmentWithoutAFlightIsDiLoCoToTheBit) {
  const ToyModel model(5);
  for (const CodecId id : {CodecId::kRawF32, CodecId::kE3m0}) {
    for (const uint64_t inner : {20, 50}) {
      OuterLoop loop{Dense(id)};
      loop.inner_steps = inner;
      loop.steps = 200;
      const Stream stream{inner, 1, 0, 0.0f, Dense(id), 200};
      EXPECT_EQ(Streaming(model, stream).Train(), TrainInRounds(model, loop))
          << CodecName(id) << " " << inner;
    }
  }
}

TEST(StreamingAblation, TheSameSeedGivesTheSameParameters) {
  const ToyModel model(9);
  Stream stream = Late(0.5f, CodecId::kE3m0);
  stream.steps = 200;
  const std::vector<float> once = Streaming(model, stream).Train();
  EXPECT_EQ(Streaming(model, stream).Train(), once);
  stream.flight = 0;
  EXPECT_NE(Streaming(model, stream).Train(), once);
}

// Prints all rows of docs/measurements/streaming.md.
TEST(StreamingAblation, DISABLED_TheTable) {
  for (const uint64_t inner : {20, 50}) {
    MeasureRounds(inner);
    for (const uint64_t flight : {0, 4, 1, 8}) {
      for (const float kept : {0.0f, 0.25f, 0.5f, 1.0f}) {
        if (flight == 0 && kept > 0) continue;
        const auto stream = [&](CodecId id) {
          return Stream{inner, 4, flight, kept, Dense(id)};
        };
        const std::string name = "tau " + std::to_string(flight) + ", a " +
                                 std::to_string(kept).substr(0, 4);
        Measure(name, stream(CodecId::kRawF32));
        if (flight != 4) continue;
        Measure(name + ", e3m0", stream(CodecId::kE3m0));
      }
    }
  }
}

}  // namespace
}  // namespace skerry::compression
