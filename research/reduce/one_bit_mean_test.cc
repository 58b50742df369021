#include "research/reduce/one_bit_mean.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "compression/testing/backward_executor.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using Payload = OneBitMean::Payload;

// Virtual members in one process, and what they put on the wire.
class Ring {
 public:
  Ring(size_t elements, int members, CodecId codec = CodecId::kSign1,
       ParallelExecutor& executor = CallingThread())
      : elements_(elements) {
    for (int rank = 0; rank < members; ++rank) {
      members_.emplace_back(elements, members, rank, codec, executor);
    }
  }

  // One step; every member has to end with the same bits.
  std::vector<float> Step(const std::vector<std::vector<float>>& x) {
    const size_t count = members_.size();
    std::vector<std::vector<Payload>> sent(count);
    std::vector<Payload> results(count);
    for (size_t m = 0; m < count; ++m) {
      EXPECT_TRUE(members_[m].Send(x[m], sent[m]).ok());
    }
    bytes_of_first_ = 0;
    for (size_t owner = 0; owner < count; ++owner) {
      std::vector<Payload> received;
      for (size_t m = 0; m < count; ++m) received.push_back(sent[m][owner]);
      EXPECT_TRUE(members_[owner].Reduce(received, results[owner]).ok());
      if (owner != 0) bytes_of_first_ += sent[0][owner].size();
    }
    bytes_of_first_ += (count - 1) * results[0].size();
    std::vector<float> out(elements_);
    EXPECT_TRUE(members_[0].Receive(results, out).ok());
    for (OneBitMean& member : members_) {
      std::vector<float> same(elements_);
      EXPECT_TRUE(member.Receive(results, same).ok());
      EXPECT_EQ(same, out);
      member.Keep();
    }
    return out;
  }

  std::vector<OneBitMean>& members() { return members_; }
  size_t bytes_of_first() const { return bytes_of_first_; }

 private:
  const size_t elements_;
  std::vector<OneBitMean> members_;
  size_t bytes_of_first_ = 0;
};

std::vector<std::vector<float>> Draw(Random& random, size_t members,
                                     size_t elements) {
  std::vector<std::vector<float>> x(members, std::vector<float>(elements));
  for (auto& values : x) {
    for (float& value : values) {
      value = static_cast<float>(random.Uniform() - 0.4);
    }
  }
  return x;
}

// One bit and a root mean square for each 256, in float64.
std::vector<double> OneBit(const std::vector<double>& values) {
  std::vector<double> coded(values.size());
  for (size_t begin = 0; begin < values.size(); begin += 256) {
    const size_t end = std::min(begin + 256, values.size());
    double squares = 0.0;
    for (size_t i = begin; i < end; ++i) squares += values[i] * values[i];
    const double scale = std::sqrt(squares / static_cast<double>(end - begin));
    for (size_t i = begin; i < end; ++i) {
      coded[i] = std::signbit(values[i]) ? -scale : scale;
    }
  }
  return coded;
}

// Parts are whole blocks, so the blocks of all values are those of the parts.
TEST(OneBitMeanTest, TheFirstStepsAreThoseOfAFloat64Oracle) {
  const size_t elements = 2000;
  const size_t count = 4;
  Ring ring(elements, count);
  Random random(1);
  std::vector<std::vector<double>> error(count, std::vector<double>(elements));
  std::vector<double> owner_error(elements);
  for (int step = 0; step < 3; ++step) {
    const auto x = Draw(random, count, elements);
    std::vector<double> mean = owner_error;
    for (size_t m = 0; m < count; ++m) {
      std::vector<double> u(elements);
      for (size_t i = 0; i < elements; ++i) u[i] = x[m][i] + error[m][i];
      const std::vector<double> coded = OneBit(u);
      for (size_t i = 0; i < elements; ++i) {
        error[m][i] = u[i] - coded[i];
        mean[i] += coded[i] / count;
      }
    }
    const std::vector<double> expected = OneBit(mean);
    for (size_t i = 0; i < elements; ++i)
      owner_error[i] = mean[i] - expected[i];
    const std::vector<float> out = ring.Step(x);
    // A mean near 0 may round to the other sign.
    size_t different = 0;
    for (size_t i = 0; i < elements; ++i) {
      if (std::fabs(out[i] - expected[i]) > 1e-5) ++different;
    }
    EXPECT_LE(different, 2u) << step;
  }
}

double WorstImbalance(CodecId codec, int count, size_t elements) {
  Ring ring(elements, count, codec);
  Random random(2);
  std::vector<double> balance(elements);
  double size = 0.0;
  for (int step = 0; step < 60; ++step) {
    const auto x = Draw(random, count, elements);
    const std::vector<float> out = ring.Step(x);
    for (size_t i = 0; i < elements; ++i) {
      balance[i] += out[i];
      for (const auto& values : x) balance[i] -= values[i] / double(count);
    }
    size += 0.5;
  }
  double worst = 0.0;
  for (int owner = 0; owner < count; ++owner) {
    const auto [begin, end] = ring.members()[owner].Part(owner);
    for (size_t i = begin; i < end; ++i) {
      double kept = ring.members()[owner].owner_error()[i - begin];
      for (const OneBitMean& member : ring.members()) {
        kept += member.member_error()[i] / count;
      }
      worst = std::max(worst, std::fabs(balance[i] + kept) / size);
    }
  }
  return worst;
}

TEST(OneBitMeanTest, WhatIsNotInTheResultsIsInTheErrors) {
  for (const int count : {1, 2, 3, 4, 7}) {
    for (const size_t elements : {1, 255, 1000, 4099}) {
      EXPECT_LT(WorstImbalance(CodecId::kSign1, count, elements), 2e-6)
          << count << " members, " << elements << " elements";
    }
  }
  EXPECT_LT(WorstImbalance(CodecId::kSign1Whole, 4, 4099), 2e-6);
  EXPECT_LT(WorstImbalance(CodecId::kNf4, 4, 4099), 2e-6);
}

// Constant inputs come out exactly on average; without errors they never do.
TEST(OneBitMeanTest, ForgettingTheErrorsIsClearlyWorse) {
  const auto error_after = [](bool keep) {
    const size_t elements = 1024;
    Ring ring(elements, 3);
    Random random(4);
    const auto x = Draw(random, 3, elements);
    std::vector<double> sum(elements);
    const int steps = 1000;
    for (int step = 0; step < steps; ++step) {
      const std::vector<float> out = ring.Step(x);
      for (size_t i = 0; i < elements; ++i) sum[i] += out[i];
      if (keep) continue;
      for (OneBitMean& member : ring.members()) member.Reset();
    }
    double error = 0.0;
    double size = 0.0;
    for (size_t i = 0; i < elements; ++i) {
      const double mean = (x[0][i] + x[1][i] + x[2][i]) / 3.0;
      error += std::pow(sum[i] / steps - mean, 2);
      size += mean * mean;
    }
    return std::sqrt(error / size);
  };
  EXPECT_LT(error_after(true), 0.03);
  EXPECT_GT(error_after(false), 0.3);
}

// 2 (W - 1) / W of the encoded values leave a member.
TEST(OneBitMeanTest, BytesSentAreThoseOfTheFormula) {
  Ring ring(4 * 1024, 4);
  Random random(5);
  ring.Step(Draw(random, 4, 4 * 1024));
  EXPECT_EQ(ring.bytes_of_first(), 2u * 3u * (4u * 4u + 128u));
}

std::vector<float> ErrorsOf(const OneBitMean& member) {
  std::vector<float> all(member.member_error().begin(),
                         member.member_error().end());
  all.insert(all.end(), member.owner_error().begin(),
             member.owner_error().end());
  return all;
}

// A member without others, whose payloads are its own results.
TEST(OneBitMeanTest, StepThatIsNotKeptLeavesNoTrace) {
  OneBitMean member(600, 1, 0, CodecId::kSign1);
  std::vector<Payload> payloads;
  Payload result;
  std::vector<float> x(600, 1.0f);
  x[10] = 3.0f;
  std::vector<float> out(600);
  const std::vector<float> first = ErrorsOf(member);
  ASSERT_TRUE(member.Send(x, payloads).ok());
  ASSERT_TRUE(member.Reduce(payloads, result).ok());
  ASSERT_TRUE(member.Receive(std::vector<Payload>{result}, out).ok());
  EXPECT_EQ(ErrorsOf(member), first);
  member.Keep();
  const std::vector<float> before = ErrorsOf(member);
  EXPECT_NE(before, first);

  const std::vector<Payload> broken(1, Payload(3));
  ASSERT_TRUE(member.Send(x, payloads).ok());
  EXPECT_TRUE(absl::IsDataLoss(member.Reduce(broken, result)));
  EXPECT_TRUE(absl::IsDataLoss(member.Receive(broken, out)));
  EXPECT_EQ(ErrorsOf(member), before);
  x[599] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(absl::IsInvalidArgument(member.Send(x, payloads)));
  EXPECT_EQ(ErrorsOf(member), before);
}

TEST(OneBitMeanTest, MeanThatOverflowsIsRefused) {
  OneBitMean member(1, 2, 0, CodecId::kRawF32);
  std::vector<Payload> payloads;
  ASSERT_TRUE(member.Send(std::vector<float>{3e38f}, payloads).ok());
  Payload result;
  // One element is the part of the last.
  OneBitMean owner(1, 2, 1, CodecId::kRawF32);
  const std::vector<Payload> twice(2, payloads[1]);
  EXPECT_TRUE(absl::IsInvalidArgument(owner.Reduce(twice, result)));
}

// Parts of 2^16 are what several threads share out.
TEST(OneBitMeanTest, BitsDoNotDependOnTheExecutor) {
  constexpr size_t kElements = 300001;
  BackwardExecutor backward(4);
  Ring alone(kElements, 2);
  Ring together(kElements, 2, CodecId::kSign1, backward);
  Random random(6);
  for (int step = 0; step < 3; ++step) {
    const auto x = Draw(random, 2, kElements);
    EXPECT_EQ(alone.Step(x), together.Step(x));
  }
  for (size_t m = 0; m < 2; ++m) {
    EXPECT_EQ(ErrorsOf(alone.members()[m]), ErrorsOf(together.members()[m]));
  }
}

}  // namespace
}  // namespace skerry::compression
