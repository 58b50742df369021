// What error feedback keeps while codecs are small, and what it does to
// training when they grow again: CO2 on the toy of research/ablation with
// adaptive codecs, over links that are slow for twelve rounds. A planner that
// does not count what is kept takes top_k/256, and twelve rounds of work arrive
// at once.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compression/codec.h"
#include "compression/testing/toy_model.h"
#include "coordinator/core/rules/codec_plan.h"
#include "gtest/gtest.h"
#include "job/review.h"
#include "job/testing/specs.h"
#include "planner/codec_controller.h"
#include "planner/codec_menu.h"
#include "worker/core/owed_sums.h"

namespace skerry::coordinator {
namespace {

using compression::ToyModel;
using Values = std::vector<float>;

constexpr size_t kCount = ToyModel::kParameters;
constexpr size_t kMembers = 3;
constexpr uint64_t kTau = 12;
constexpr uint64_t kRounds = 58;
constexpr uint64_t kSlowFrom = 20;
constexpr uint64_t kSlowTo = 32;
// Rounds after the step up in which it would show.
constexpr uint64_t kSettled = kSlowTo + 8;
constexpr double kInnerRate = 0.02;
constexpr uint64_t kSeeds[] = {1, 2, 3, 4};

// The outer loop's learning rate, and the bound that it clips results to.
constexpr float kRate = 0.5f;
constexpr float kClip = 0.1f;

job::JobSpec Co2() {
  job::JobSpec spec = job::SmallJob("toy", 1000);
  spec.outer.method = job::OuterMethod::kCo2;
  spec.exchange.codec = "adaptive";
  return ReviewJobSpec(spec)->spec;
}

// A member of the exchanges: AdamW whose moments are its own, and what it owes.
struct Member {
  Values w = Values(kCount);
  Values m = Values(kCount);
  Values v = Values(kCount);
  Values owed = Values(kCount);
  Values fresh = Values(kCount);  // of this round

  void Step(const Values& g, uint64_t step) {
    const auto rate = static_cast<float>(
        kInnerRate * compression::CosineSchedule(step, kRounds * kTau));
    const auto done = static_cast<double>(step + 1);
    const auto fix1 = static_cast<float>(1 - std::pow(0.9, done));
    const auto fix2 = static_cast<float>(1 - std::pow(0.999, done));
    for (size_t i = 0; i < kCount; ++i) {
      m[i] = 0.9f * m[i] + 0.1f * g[i];
      v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
      w[i] -= rate * (m[i] / fix1) / (std::sqrt(v[i] / fix2) + 1e-8f);
    }
  }
};

// The bytes of `values`, decoded.
Values Send(const std::string& codec, std::span<const float> values) {
  const auto found =
      compression::FindCodec(*compression::ParseCodecName(codec));
  std::vector<std::byte> payload;
  EXPECT_TRUE((*found)->Encode(values, payload).ok());
  Values arrived(values.size());
  EXPECT_TRUE((*found)->Decode(payload, arrived).ok());
  return arrived;
}

size_t Begin(size_t owner) { return owner * kCount / kMembers; }

class ToyJob {
 public:
  ToyJob(uint64_t seed, const planner::ErrorHandling& handling,
         const std::vector<planner::CodecOption>& options, double slow_rate)
      : model_(seed),
        handling_(handling),
        options_(options),
        slow_rate_(slow_rate),
        anchor_(model_.FirstParameters()),
        members_(kMembers) {
    Values result(kCount);
    bool in_flight = false;
    for (uint64_t round = 0; round < kRounds; ++round) {
      for (size_t n = 0; n < kMembers; ++n) Train(members_[n], n, round);
      if (in_flight) Apply(result, kRate);
      if (round + 1 == kSlowTo) rounds_owed_ = RoundsOwed();
      result = Exchange(Codecs(round));
      in_flight = round >= kRounds / 10;
      if (!in_flight) Apply(result, 1.0f);
      if (round < kSlowTo || round >= kSettled) continue;
      peak_ = std::max(peak_, model_.TestLoss(anchor_));
    }
    end_ = model_.TestLoss(anchor_);
  }

  // The largest test loss soon after the links were fast again, and the last.
  double peak() const { return peak_; }
  double end() const { return end_; }
  // RoundsOwed() in the last slow round.
  double rounds_owed() const { return rounds_owed_; }
  const std::set<std::string>& chosen() const { return chosen_; }

 private:
  void Train(Member& member, size_t n, uint64_t round) {
    Values g(kCount);
    member.w = anchor_;
    for (uint64_t step = round * kTau; step < (round + 1) * kTau; ++step) {
      model_.Gradient(member.w, n, step, g);
      member.Step(g, step);
    }
    worker::AccumulateOwed(1.0f, anchor_, member.w, member.owed);
    member.fresh.assign(kCount, 0.0f);
    worker::AccumulateOwed(1.0f, anchor_, member.w, member.fresh);
  }

  // Returns the norm of what members owe, over the norm of what they have
  // produced in this round. Elements that a member owns do not count, because
  // what it owes as an owner is in other units.
  double RoundsOwed() const {
    double owed = 0.0;
    double fresh = 0.0;
    for (size_t n = 0; n < kMembers; ++n) {
      for (size_t i = 0; i < kCount; ++i) {
        if (i >= Begin(n) && i < Begin(n + 1)) continue;
        owed += std::pow(members_[n].owed[i], 2.0);
        fresh += std::pow(members_[n].fresh[i], 2.0);
      }
    }
    return std::sqrt(owed / fresh);
  }

  // Returns the codec of every member. All have the same, because their links
  // are alike.
  std::string Codecs(uint64_t round) {
    planner::CodecProblem problem;
    problem.options = options_;
    problem.handling = handling_;
    problem.budget = absl::Seconds(1);
    problem.shape.elements = kCount;
    for (size_t n = 0; n < kMembers; ++n) {
      planner::ExchangeMember member;
      member.replica = ReplicaId(n + 1);
      const bool slow = round >= kSlowFrom && round < kSlowTo;
      member.link.up_bytes_per_s = slow ? slow_rate_ : kFastRate;
      member.link.down_bytes_per_s = member.link.up_bytes_per_s;
      member.owned_elements = Begin(n + 1) - Begin(n);
      problem.shape.members.push_back(member);
    }
    const auto decision = controller_.Decide(problem);
    EXPECT_TRUE(decision.ok()) << decision.status();
    const std::string& name = problem.options[decision->choice.codec[0]].name;
    chosen_.insert(name);
    return name;
  }

  // PROTOCOL 4.3 and 4.4, weights 1 and beta 1; the mean.
  Values Exchange(const std::string& codec) {
    Values result;
    for (size_t owner = 0; owner < kMembers; ++owner) {
      const size_t begin = Begin(owner);
      const size_t count = Begin(owner + 1) - begin;
      Values sum(count);
      for (size_t n = 0; n < kMembers; ++n) {
        const std::span<float> owed =
            std::span(members_[n].owed).subspan(begin, count);
        if (n == owner) {
          worker::AddOwed(owed, sum);
          continue;
        }
        const Values sent = Send(codec, owed);
        worker::AddOwed(sent, sum);
        worker::SettleSent(sent, owed);
      }
      Values mean(count);
      worker::MeanOfSum(sum, kMembers, mean);
      const Values decoded = Send(codec, mean);
      worker::OwnerError(sum, kMembers, decoded, sum);
      worker::SettleOwned(
          sum, std::span(members_[owner].owed).subspan(begin, count));
      result.insert(result.end(), decoded.begin(), decoded.end());
    }
    return result;
  }

  void Apply(const Values& result, float rate) {
    for (size_t i = 0; i < kCount; ++i) {
      anchor_[i] -= rate * std::clamp(result[i], -kClip, kClip);
    }
  }

  static constexpr double kFastRate = 1e6;  // bytes a second

  const ToyModel model_;
  const planner::ErrorHandling handling_;
  const std::vector<planner::CodecOption> options_;
  const double slow_rate_;
  Values anchor_;
  std::vector<Member> members_;
  planner::CodecController controller_{{}};
  std::set<std::string> chosen_;
  double peak_ = 0.0;
  double end_ = 0.0;
  double rounds_owed_ = 0.0;
};

// The menu's codecs whose error does not depend on how long a slice is: the
// toy's do not fill a chunk of chunk_top_k.
std::vector<planner::CodecOption> Options() {
  std::vector<planner::CodecOption> options;
  for (const planner::CodecOption& option : planner::CodecMenu()) {
    if (!option.name.starts_with("chunk_")) options.push_back(option);
  }
  return options;
}

// Behind a round of a second this hides the smallest of them alone.
constexpr double kSlowRate = 60;

planner::ErrorHandling Unbounded() {
  planner::ErrorHandling handling = ErrorHandlingOf(Co2());
  handling.rounds_at_once_max = std::numeric_limits<double>::infinity();
  return handling;
}

struct Seen {
  std::vector<double> peaks;
  std::vector<double> ends;
  std::vector<double> rounds_owed;
  std::set<std::string> chosen;
};

Seen Of(const std::string& name, const planner::ErrorHandling& handling,
        const std::vector<planner::CodecOption>& options, double slow_rate) {
  Seen seen;
  for (const uint64_t seed : kSeeds) {
    const ToyJob run(seed, handling, options, slow_rate);
    seen.peaks.push_back(run.peak());
    seen.ends.push_back(run.end());
    seen.rounds_owed.push_back(run.rounds_owed());
    seen.chosen.insert(run.chosen().begin(), run.chosen().end());
  }
  const compression::Spread peak = compression::SpreadOf(seen.peaks);
  const compression::Spread end = compression::SpreadOf(seen.ends);
  std::printf("%-24s owed %.2f, peak %.4f +- %.4f, end %.4f +- %.4f,",
              name.c_str(), compression::SpreadOf(seen.rounds_owed).mean,
              peak.mean, peak.deviation, end.mean, end.deviation);
  for (const std::string& codec : seen.chosen)
    std::printf(" %s", codec.c_str());
  std::printf("\n");
  return seen;
}

TEST(CodecBacklogTest, TrainingStandsAStepOfTheLinksUpAgain) {
  const planner::ErrorHandling handling = ErrorHandlingOf(Co2());
  const Seen steady = Of("links stay fast", handling, Options(), 1e6);
  const Seen stepped = Of("adaptive", handling, Options(), kSlowRate);
  const Seen broken =
      Of("what is kept not counted", Unbounded(), Options(), kSlowRate);
  EXPECT_EQ(steady.chosen, std::set<std::string>{"int8_block"});
  EXPECT_EQ(stepped.chosen, (std::set<std::string>{"int8_block", "sign1"}));
  EXPECT_EQ(broken.chosen, (std::set<std::string>{"int8_block", "top_k/256"}));
  for (size_t i = 0; i < std::size(kSeeds); ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeeds[i]);
    EXPECT_LT(stepped.peaks[i], 1.1 * steady.peaks[i]);
    EXPECT_GT(broken.peaks[i], 1.5 * steady.peaks[i]);
  }
  const compression::Spread end = compression::SpreadOf(steady.ends);
  EXPECT_LT(std::fabs(compression::SpreadOf(stepped.ends).mean - end.mean),
            2 * end.deviation);
}

// The bound is where it has to be: what RoundsAtOnce() says is what is owed,
// and the codecs below the bound are those that training does not notice.
TEST(CodecBacklogTest, WhatIsOwedIsWhatTheErrorOfACodecSays) {
  const planner::ErrorHandling handling = ErrorHandlingOf(Co2());
  const planner::CodecOption dense = planner::CodecMenu()[0];
  const Seen steady = Of("links stay fast", handling, {dense}, 1e6);
  const double usual = compression::SpreadOf(steady.peaks).mean;
  for (const planner::CodecOption& option : Options()) {
    if (option.loss == planner::CodecLoss::kRounding) continue;
    const Seen seen = Of(option.name, Unbounded(), {dense, option}, kSlowRate);
    const double owed = compression::SpreadOf(seen.rounds_owed).mean;
    const double said = planner::RoundsAtOnce(option.relative_rms, 1.0);
    const double peak = compression::SpreadOf(seen.peaks).mean;
    SCOPED_TRACE(option.name);
    // In twelve rounds not all is there that would be in the end.
    EXPECT_LT(owed, 1.25 * said);
    if (said < 4.0) {
      EXPECT_GT(owed, 0.75 * said);
    }
    if (WhyRefused(option, handling).empty()) {
      EXPECT_LT(peak, 1.1 * usual);
    }
    if (said > 7.0) {
      EXPECT_GT(peak, 1.5 * usual);
    }
  }
}

TEST(CodecBacklogTest, TheSameSeedGivesTheSameLosses) {
  const planner::ErrorHandling handling = ErrorHandlingOf(Co2());
  const ToyJob once(9, handling, Options(), kSlowRate);
  const ToyJob again(9, handling, Options(), kSlowRate);
  EXPECT_EQ(once.peak(), again.peak());
  EXPECT_EQ(once.end(), again.end());
}

}  // namespace
}  // namespace skerry::coordinator
