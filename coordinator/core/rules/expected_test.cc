#include "coordinator/core/rules/expected.h"

#include <string>

#include "coordinator/core/rules/exchange.h"
#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

// Two replicas that have committed a sequence and compute the next round, and
// one that has joined since.
struct Joined : JobBench {
  explicit Joined(job::JobSpec spec = job::SmallJob("bench", 1000))
      : JobBench(spec) {
    a = AddReplica("a", {"wa"});
    b = AddReplica("b", {"wb"});
    Offer("wa", 1, 0, {0, 8});
    Offer("wb", 1, 0, {16, 24});
    DecideExchange(job, decider());
    Report("wa", 77);
    Report("wb", 77);
    DecideExchange(job, decider());
    for (const char* name : {"wa", "wb"}) {
      Fragment(name).applied = Sequence(1);
      Fragment(name).ready.reset();
    }
    joiner = AddReplica("c", {"wc"});
  }
  Expected Count() { return CountExpected(job, decider(), job.fragments[0]); }
  Life a, b, joiner;
};

TEST(ExpectedTest, AllAreWaitedForWhenAllAreNew) {
  JobBench bench;
  bench.AddReplica("a", {"wa"});
  bench.AddReplica("b", {"wb"});
  const Expected expected =
      CountExpected(bench.job, bench.decider(), bench.job.fragments[0]);
  EXPECT_EQ(expected.replicas, 2u);
  EXPECT_EQ(expected.newcomers, 0u);
}

TEST(ExpectedTest, WhoHasJustJoinedIsNotWaitedFor) {
  Joined bench;
  EXPECT_EQ(bench.Count().replicas, 2u);
  EXPECT_EQ(bench.Count().newcomers, 1u);
  bench.Offer("wa", 2, 1, {8, 16});
  DecideExchange(bench.job, bench.decider());
  ASSERT_EQ(bench.Decided<Opened>().size(), 1u);
  bench.Offer("wb", 2, 1, {24, 32});
  DecideExchange(bench.job, bench.decider());
  const auto opened = bench.Decided<Opened>();
  ASSERT_EQ(opened.size(), 2u);
  EXPECT_EQ(opened[1].members.size(), 2u);
  EXPECT_NE(opened[1].reason.find("every replica is ready but 1 that just"),
            std::string::npos);
}

TEST(ExpectedTest, WhatItOffersMeanwhileCounts) {
  Joined bench;
  bench.Offer("wc", 1, 1, {32, 40});
  EXPECT_EQ(bench.Count().replicas, 3u);
  bench.Offer("wa", 2, 1, {8, 16});
  bench.Offer("wb", 2, 1, {24, 32});
  DecideExchange(bench.job, bench.decider());
  EXPECT_EQ(bench.Decided<Opened>().back().members.size(), 3u);
}

TEST(ExpectedTest, ItIsWaitedForWhenItWouldComeTooLate) {
  job::JobSpec spec = job::SmallJob("bench", 1000);
  spec.exchange.carry = 0;
  EXPECT_EQ(Joined(spec).Count().newcomers, 0u);
  spec.exchange.carry = 1;
  Joined bench(spec);
  EXPECT_EQ(bench.Count().newcomers, 1u);
  // It has been passed over once.
  bench.Fragment("wc").applied = Sequence(0);
  EXPECT_EQ(bench.Count().newcomers, 0u);
}

TEST(ExpectedTest, ItIsWaitedForBeforeItSaysWhereItIs) {
  Joined bench;
  bench.Facts("wc").life = bench.a;
  EXPECT_EQ(bench.Count().newcomers, 0u);
  EXPECT_EQ(bench.Count().replicas, 3u);
}

TEST(ExpectedTest, WithSeveralFragmentsAllAreWaitedFor) {
  job::JobSpec spec = job::SmallJob("bench", 1000);
  spec.exchange.fragments = 2;
  Joined bench(spec);
  EXPECT_EQ(bench.Count().newcomers, 0u);
}

}  // namespace
}  // namespace skerry::coordinator
