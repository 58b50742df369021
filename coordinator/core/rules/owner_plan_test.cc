#include "coordinator/core/rules/owner_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coordinator/core/rules/exchange.h"
#include "coordinator/core/state/layout.h"
#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

// Replicas of one worker each, whose ways out have these rates.
struct Bench : JobBench {
  explicit Bench(const std::vector<double>& rates,
                 job::JobSpec spec = job::SmallJob("bench", 1000))
      : JobBench(spec), rates(rates) {
    for (size_t r = 0; r < rates.size(); ++r) {
      AddReplica(std::string(1, static_cast<char>('a' + r)), {WorkerOf(r)});
    }
  }

  static std::string WorkerOf(size_t replica) {
    return "w" + std::to_string(replica);
  }

  void Measure() {
    for (size_t from = 0; from < rates.size(); ++from) {
      Facts(WorkerOf(from)).links.clear();
      for (size_t to = 0; to < rates.size(); ++to) {
        if (from == to) continue;
        Facts(WorkerOf(from))
            .links.push_back(
                {WorkerOf(to),
                 rates[from] / static_cast<double>(rates.size() - 1), 0.0, 0.0,
                 0.0});
      }
    }
  }

  Opened Plan() {
    Opened opened;
    opened.hops = rates.size() > 2 ? Hops::kTwo : Hops::kOne;
    for (const auto& [life, replica] : job.replicas.current()) {
      opened.members.push_back(
          {replica.replica, life, Contribution(), replica.holders});
    }
    PlanOwners(job, 0, opened);
    return opened;
  }

  // Commits the exchanges with equal shares that links are measured under.
  void LearnLinks() {
    Measure();
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(Plan().owners, Equal());
      job.owner_holds[0].OnCommitted(absl::Seconds(10));
    }
  }

  std::vector<uint32_t> Equal() const {
    return EqualOwners(job.span_count, static_cast<uint32_t>(rates.size()), 0);
  }

  const std::vector<double> rates;
};

std::vector<int> SpansOwned(const Opened& opened) {
  std::vector<int> spans(opened.members.size());
  for (const uint32_t owner : opened.owners) ++spans[owner];
  return spans;
}

TEST(OwnerPlanTest, SharesAreEqualWhileNoLinkIsMeasured) {
  Bench bench({200, 100, 50, 50});
  for (int i = 0; i < 3; ++i) {
    const Opened opened = bench.Plan();
    EXPECT_EQ(opened.owners, bench.Equal());
    EXPECT_EQ(opened.reason, "");
    bench.job.owner_holds[0].OnCommitted(absl::Seconds(10));
  }
}

// 8 spans; what the slow ones contribute takes as long as all the rest.
TEST(OwnerPlanTest, FastLinksOwnWhatSlowOnesWouldBeLateWith) {
  Bench bench({200, 100, 50, 50});
  bench.LearnLinks();
  const Opened opened = bench.Plan();
  const std::vector<int> owned = SpansOwned(opened);
  EXPECT_GT(owned[0], owned[1]);
  EXPECT_EQ(owned[0] + owned[1], 8);
  EXPECT_NE(opened.reason.find("by their links"), std::string::npos)
      << opened.reason;
}

TEST(OwnerPlanTest, LinksThatAreNearlyAlikeKeepEqualShares) {
  Bench bench({100, 98, 97});
  bench.LearnLinks();
  EXPECT_EQ(bench.Plan().owners, bench.Equal());
}

TEST(OwnerPlanTest, PoliciesAndOneHopKeepEqualShares) {
  job::JobSpec adaptive = job::SmallJob("bench", 1000);
  adaptive.exchange.codec = "adaptive";
  Bench by_policy({200, 100, 50, 50}, adaptive);
  by_policy.LearnLinks();
  EXPECT_EQ(by_policy.Plan().owners, by_policy.Equal());
  Bench two({200, 50});
  two.LearnLinks();
  EXPECT_EQ(two.Plan().owners, two.Equal());
}

TEST(OwnerPlanTest, ARepeatedAttemptGivesEverySpanAnotherOwner) {
  Bench bench({200, 100, 50});
  bench.LearnLinks();
  for (size_t r = 0; r < 3; ++r) {
    bench.Offer(Bench::WorkerOf(r), 1, 0, {16 * r, 16 * r + 8});
  }
  DecideExchange(bench.job, bench.decider());
  // Three results: nobody knows which one is right.
  for (size_t r = 0; r < 3; ++r) bench.Report(Bench::WorkerOf(r), r);
  DecideExchange(bench.job, bench.decider());
  const auto opened = bench.Decided<Opened>();
  ASSERT_EQ(opened.size(), 2u);
  ASSERT_EQ(opened[1].members.size(), 3u);
  EXPECT_NE(opened[0].owners, bench.Equal());
  for (size_t span = 0; span < opened[0].owners.size(); ++span) {
    EXPECT_NE(opened[0].owners[span], opened[1].owners[span]);
  }
}

}  // namespace
}  // namespace skerry::coordinator
