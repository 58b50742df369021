#include "coordinator/core/rules/codec_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compression/codec.h"
#include "coordinator/core/rules/exchange.h"
#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using protocol::PeerLink;

job::JobSpec AdaptiveJob(job::OuterMethod method) {
  job::JobSpec spec = job::SmallJob("bench", 100000);
  spec.exchange.codec = "adaptive";
  spec.outer.method = method;
  return spec;
}

// Three replicas that run round after round; each worker's way out is measured.
struct Three : JobBench {
  explicit Three(job::JobSpec spec) : JobBench(spec) {
    AddReplica("a", {"wa"});
    AddReplica("b", {"wb"});
    AddReplica("c", {"wc"});
  }

  // Both ways, to and from the worker, shared among the others.
  void Measure(const std::map<std::string, double>& bytes_per_s) {
    for (const auto& [from, rate] : bytes_per_s) {
      Facts(from).links.clear();
      for (const auto& [to, other] : bytes_per_s) {
        if (from == to) continue;
        Facts(from).links.push_back(
            {to, std::min(rate, other) / 2, 0.05, 0.02});
      }
    }
  }

  // Opens an attempt whose members computed for `compute_s`, looks, closes it.
  Opened OpenOnce(double compute_s, Hops hops = Hops::kTwo) {
    Opened opened;
    opened.hops = hops;
    for (const auto& [life, replica] : job.replicas.current()) {
      Contribution contribution;
      contribution.weight = 8;
      contribution.scalars.compute_s = compute_s;
      opened.members.push_back(
          {replica.replica, life, contribution, replica.holders});
    }
    opened.owners = {0, 1, 2, 0, 1, 2, 0, 1};
    opened.owners.resize(job.span_count);
    opened.reason = "a test";
    PlanCodecs(job, 0, opened);
    return opened;
  }
};

std::vector<std::string> CodecsOf(const Opened& opened) {
  std::vector<std::string> codecs;
  for (const Member& member : opened.members) {
    codecs.emplace_back(compression::CodecName(member.codec));
  }
  return codecs;
}

using Codecs = std::vector<std::string>;

Codecs ResultCodecsOf(const Opened& opened) {
  Codecs codecs;
  for (const Member& member : opened.members) {
    codecs.emplace_back(member.result_codec.has_value()
                            ? compression::CodecName(*member.result_codec)
                            : "");
  }
  return codecs;
}

// Seconds of a round behind which the bench's elements in int8 just fit when
// they are sent at this rate.
double RoundFor(const JobBench& bench, double bytes_per_s) {
  return 4.0 * static_cast<double>(bench.job.element_count) / bytes_per_s;
}

TEST(CodecPlanTest, OnlySlowLinksSendLessAndAStepChangesThemOnce) {
  Three bench(AdaptiveJob(job::OuterMethod::kCo2));
  const double round = RoundFor(bench, 1e5) + 0.1;
  bench.Measure({{"wa", 1e6}, {"wb", 1e6}, {"wc", 1e6}});
  EXPECT_EQ(CodecsOf(bench.OpenOnce(round)),
            (Codecs{"int8_block", "int8_block", "int8_block"}));
  std::set<std::string> seen = {"int8_block"};
  Codecs before = CodecsOf(bench.OpenOnce(round));
  int changes = 0;
  bench.Measure({{"wa", 1e6}, {"wb", 1e6}, {"wc", 2e4}});
  for (int i = 0; i < 10; ++i) {
    const Opened opened = bench.OpenOnce(round);
    const Codecs codecs = CodecsOf(opened);
    changes += codecs != before ? 1 : 0;
    EXPECT_EQ(codecs != before,
              opened.reason.find("codecs change") != std::string::npos)
        << opened.reason;
    before = codecs;
    seen.insert(codecs.begin(), codecs.end());
    EXPECT_NE(opened.reason.find("MB/s"), std::string::npos) << opened.reason;
  }
  EXPECT_EQ(changes, 1);
  EXPECT_GE(seen.size(), 2u);
  EXPECT_NE(before[2], "int8_block");
}

TEST(CodecPlanTest, EveryChoiceIsACodecThatWorkersKnow) {
  for (const job::OuterMethod method :
       {job::OuterMethod::kLocalSgd, job::OuterMethod::kDiloco,
        job::OuterMethod::kCo2}) {
    Three bench(AdaptiveJob(method));
    for (const double rate : {1e2, 1e3, 1e4, 1e5, 1e6}) {
      bench.Measure({{"wa", rate}, {"wb", 1e6}, {"wc", 1e6}});
      for (const std::string& codec : CodecsOf(bench.OpenOnce(1.0))) {
        const auto id = compression::ParseCodecName(codec);
        ASSERT_TRUE(id.ok()) << id.status();
        // Error feedback under momentum takes no sparse codec.
        EXPECT_FALSE(method == job::OuterMethod::kDiloco &&
                     compression::IsSparse(*id));
      }
    }
  }
}

// Hardly anything gets through: the smallest codec that the job may use is
// taken, which is the one whose error feedback the outer step stands.
TEST(CodecPlanTest, TheSmallestCodecIsOneThatCanGiveWayToAnyOther) {
  struct Case {
    job::OuterMethod method;
    double beta;
    std::optional<double> learning_rate;
    double rounds_max;
    std::string smallest;
  };
  for (const Case& one : std::vector<Case>{
           {job::OuterMethod::kCo2, 1.0, {}, 2.0, "sign1"},
           {job::OuterMethod::kLocalSgd, 1.0, {}, 2.0, "sign1"},
           {job::OuterMethod::kLocalSgd, 1.0, 0.5, 4.0, "chunk_top_k/16"},
           {job::OuterMethod::kAveragePlusLocalDelta, 1.0, {}, 2.0, "sign1"},
           // What is owed is forgotten in a round or two.
           {job::OuterMethod::kCo2, 0.5, {}, 2.0, "chunk_top_k/256"}}) {
    job::JobSpec spec = AdaptiveJob(one.method);
    spec.outer.beta = one.beta;
    spec.outer.learning_rate = one.learning_rate;
    Three bench(spec);
    EXPECT_DOUBLE_EQ(ErrorHandlingOf(bench.job.spec).rounds_at_once_max,
                     one.rounds_max);
    bench.Measure({{"wa", 1.0}, {"wb", 1.0}, {"wc", 1.0}});
    const Opened opened = bench.OpenOnce(1.0);
    EXPECT_EQ(CodecsOf(opened), Codecs(3, one.smallest)) << opened.reason;
  }
}

// Who names a ratio gets it.
TEST(CodecPlanTest, OnlyAdaptiveBoundsWhatErrorFeedbackKeeps) {
  job::JobSpec spec = AdaptiveJob(job::OuterMethod::kCo2);
  spec.exchange.codec = "ada_top_k/256";
  Three bench(spec);
  EXPECT_TRUE(std::isinf(ErrorHandlingOf(bench.job.spec).rounds_at_once_max));
}

TEST(CodecPlanTest, AdaTopKSparsifiesTheSlowLinkAlone) {
  job::JobSpec spec = AdaptiveJob(job::OuterMethod::kCo2);
  spec.exchange.codec = "ada_top_k/4";
  Three bench(spec);
  bench.Measure({{"wa", 1e6}, {"wb", 1e6}, {"wc", 1e6}});
  for (PeerLink& link : bench.Facts("wa").links) link.bytes_per_s /= 16;
  const Opened opened = bench.OpenOnce(1.0);
  // A quarter of int8_block's bytes.
  EXPECT_EQ(CodecsOf(opened), (Codecs{"top_k/8", "int8_block", "int8_block"}));
  EXPECT_NE(opened.reason.find("1/4 of its dense bytes"), std::string::npos)
      << opened.reason;
}

TEST(CodecPlanTest, WithoutMeasurementsAllSendInt8) {
  Three bench(AdaptiveJob(job::OuterMethod::kCo2));
  const Opened opened = bench.OpenOnce(1.0);
  EXPECT_EQ(CodecsOf(opened),
            (Codecs{"int8_block", "int8_block", "int8_block"}));
  EXPECT_NE(opened.reason.find("no link is measured"), std::string::npos);
}

TEST(CodecPlanTest, WhatAMachineIsTooSlowForIsNotChosen) {
  Three bench(AdaptiveJob(job::OuterMethod::kCo2));
  bench.Measure({{"wa", 1e6}, {"wb", 1e6}, {"wc", 2e4}});
  const double round = RoundFor(bench, 1e5) + 0.1;
  const std::string before = CodecsOf(bench.OpenOnce(round))[2];
  ASSERT_NE(before, "int8_block");
  Three slow(AdaptiveJob(job::OuterMethod::kCo2));
  slow.Measure({{"wa", 1e6}, {"wb", 1e6}, {"wc", 2e4}});
  // Slow at the one codec alone.
  slow.Facts("wc").codec_speeds = {{before, 1.0, 1.0}};
  EXPECT_NE(CodecsOf(slow.OpenOnce(round))[2], before);
}

TEST(CodecPlanTest, ARoundTripThatWaversLeavesLessTimeToSend) {
  const auto chosen = [](double spread_s) {
    Three bench(AdaptiveJob(job::OuterMethod::kCo2));
    bench.Measure({{"wa", 1e6}, {"wb", 1e6}, {"wc", 1e6}});
    for (const char* worker : {"wa", "wb", "wc"}) {
      for (PeerLink& link : bench.Facts(worker).links) {
        link.round_trip_spread_s = spread_s;
      }
    }
    return CodecsOf(bench.OpenOnce(RoundFor(bench, 1e6) + 0.1));
  };
  EXPECT_EQ(chosen(0.0), Codecs(3, "int8_block"));
  // Nothing hides behind a spread so long, so what ends first is taken.
  EXPECT_NE(chosen(1e3), Codecs(3, "int8_block"));
}

TEST(CodecPlanTest, NoCodecErrsMoreThanTheJobAccepts) {
  for (const auto& [cap, smallest] : std::map<double, std::string>{
           {0.0071, "int8_block"}, {0.1, "nf4"}, {1.0, "sign1"}}) {
    job::JobSpec spec = AdaptiveJob(job::OuterMethod::kCo2);
    spec.exchange.error_max = cap;
    Three bench(spec);
    bench.Measure({{"wa", 1.0}, {"wb", 1.0}, {"wc", 1.0}});
    const Opened opened = bench.OpenOnce(1.0);
    EXPECT_EQ(CodecsOf(opened), Codecs(3, smallest)) << opened.reason;
    EXPECT_EQ(opened.reason.find("above error_max") != std::string::npos,
              cap < 1.0)
        << opened.reason;
  }
}

TEST(CodecPlanTest, WithoutACapNoErrorIsAboveIt) {
  Three bench(AdaptiveJob(job::OuterMethod::kCo2));
  ASSERT_FALSE(bench.job.spec.exchange.error_max.has_value());
  EXPECT_TRUE(std::isinf(ErrorHandlingOf(bench.job.spec).error_max));
  bench.Measure({{"wa", 1.0}, {"wb", 1.0}, {"wc", 1.0}});
  const Opened opened = bench.OpenOnce(1.0);
  EXPECT_EQ(CodecsOf(opened), Codecs(3, "sign1"));
  EXPECT_EQ(opened.reason.find("error_max"), std::string::npos)
      << opened.reason;
}

TEST(CodecPlanTest, WhoIsNotMeasuredCountsAsTheSlowest) {
  Three bench(AdaptiveJob(job::OuterMethod::kCo2));
  bench.Measure({{"wa", 1e6}, {"wb", 1e3}});
  const Codecs codecs = CodecsOf(bench.OpenOnce(0.1));
  EXPECT_NE(codecs[2], "int8_block");
}

TEST(CodecPlanTest, AJobThatNamesACodecKeepsIt) {
  job::JobSpec spec = job::SmallJob("bench", 1000);
  spec.exchange.codec = "bf16";
  Three bench(spec);
  bench.Measure({{"wa", 1e2}, {"wb", 1e2}, {"wc", 1e2}});
  const Opened opened = bench.OpenOnce(1.0);
  EXPECT_EQ(CodecsOf(opened), (Codecs{"bf16", "bf16", "bf16"}));
  EXPECT_EQ(opened.reason, "a test");
}

// Three replicas that have time for int8_block in one hop, but not in both.
struct ThreeApart : Three {
  explicit ThreeApart(std::set<std::string> old = {})
      : Three(AdaptiveJob(job::OuterMethod::kCo2)) {
    Measure({{"wa", 1e5}, {"wb", 1e5}, {"wc", 1e5}});
    for (const char* worker : {"wa", "wb", "wc"}) {
      Facts(worker).result_codecs = !old.contains(worker);
    }
  }

  // Seconds of a round. The exchange may take 0.8 of them, which is 0.34 of
  // RoundFor(), and two hops of int8_block would take 0.42.
  double Round() { return 0.43 * RoundFor(*this, 1e5); }
};

TEST(CodecPlanTest, ResultsHaveACodecOfTheirOwnWhereAllWorkersTakeOne) {
  ThreeApart all;
  const Opened apart = all.OpenOnce(all.Round());
  EXPECT_NE(ResultCodecsOf(apart), Codecs(3, "")) << apart.reason;
  for (const Member& member : apart.members) {
    EXPECT_NE(member.result_codec, member.codec);
    if (!member.result_codec.has_value()) continue;
    const std::string codec(compression::CodecName(member.codec));
    const std::string result(compression::CodecName(*member.result_codec));
    EXPECT_NE(apart.reason.find(" " + codec + ", results " + result),
              std::string::npos)
        << apart.reason;
  }
  ThreeApart one_old({"wb"});
  const Opened same = one_old.OpenOnce(one_old.Round());
  EXPECT_EQ(ResultCodecsOf(same), Codecs(3, "")) << same.reason;
  EXPECT_EQ(same.reason.find("results "), std::string::npos) << same.reason;
}

TEST(CodecPlanTest, AnOldWorkerThatJoinsTakesResultCodecsAwayAtOnce) {
  ThreeApart bench;
  ASSERT_NE(ResultCodecsOf(bench.OpenOnce(bench.Round())), Codecs(3, ""));
  bench.Facts("wb").result_codecs = false;
  const Opened same = bench.OpenOnce(bench.Round());
  EXPECT_EQ(ResultCodecsOf(same), Codecs(3, "")) << same.reason;
  EXPECT_NE(same.reason.find("codecs change"), std::string::npos)
      << same.reason;
}

TEST(CodecPlanTest, OneHopHasNoResultsToEncode) {
  ThreeApart bench;
  const Opened opened = bench.OpenOnce(bench.Round(), Hops::kOne);
  EXPECT_EQ(ResultCodecsOf(opened), Codecs(3, "")) << opened.reason;
}

// A restart knows no facts and no links, only records.
TEST(CodecPlanTest, AnAttemptThatIsReplayedKeepsItsPairs) {
  ThreeApart bench;
  Opened opened = bench.OpenOnce(bench.Round());
  ASSERT_NE(ResultCodecsOf(opened), Codecs(3, ""));
  opened.job = bench.job.id;
  opened.fragment = bench.job.fragments[0].fragment();
  opened.sequence = Next(bench.job.fragments[0].newest());
  bench.Emit(opened);
  JobBench restarted(AdaptiveJob(job::OuterMethod::kCo2));
  for (const Entry& entry : bench.records) restarted.Emit(entry.record);
  const auto& open = restarted.job.fragments[0].open();
  ASSERT_TRUE(open.has_value());
  const Opened& replayed = open->opened;
  EXPECT_EQ(CodecsOf(replayed), CodecsOf(opened));
  EXPECT_EQ(ResultCodecsOf(replayed), ResultCodecsOf(opened));
}

TEST(CodecPlanTest, AnAttemptOpensWithWhatWasChosen) {
  Three bench(AdaptiveJob(job::OuterMethod::kLocalSgd));
  bench.Offer("wa", 1, 0, {0, 8});
  bench.Offer("wb", 1, 0, {16, 24});
  bench.Offer("wc", 1, 0, {32, 40});
  DecideExchange(bench.job, bench.decider());
  const auto opened = bench.Decided<Opened>();
  ASSERT_EQ(opened.size(), 1u);
  EXPECT_EQ(CodecsOf(opened[0]),
            (Codecs{"int8_block", "int8_block", "int8_block"}));
}

}  // namespace
}  // namespace skerry::coordinator
