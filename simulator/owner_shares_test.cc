// What owners by uplink are worth: the real coordinator and seats exchange over
// links of unequal rates that all transfers share, and measure them themselves.
#include "planner/owner_shares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "job/review.h"
#include "job/testing/specs.h"
#include "simulator/planned_world.h"
#include "simulator/stand_in.h"

namespace skerry::sim {
namespace {

constexpr uint64_t kElements = 124'439'808;
constexpr double kBytesPerElement = 2;  // bf16
constexpr double kMbitPerS = 1e6 / 8;

// How long the attempt of each commit took, and how many spans each member
// owned.
class Watcher final : public Observer {
 public:
  struct Exchange {
    double seconds = 0;
    std::vector<uint32_t> owned;

    bool IsEqual() const {
      const auto [least, most] =
          std::minmax_element(owned.begin(), owned.end());
      return *most - *least <= 1;
    }
  };

  explicit Watcher(size_t members) : members_(members) {}

  void set_timeline(const Timeline& timeline) { timeline_ = &timeline; }

  void OnDurable(const coordinator::Entry& entry) override {
    if (const auto* open = std::get_if<coordinator::Opened>(&entry.record)) {
      EXPECT_EQ(open->members.size(), members_);
      opened_at_ = timeline_->now();
      open_.owned.assign(open->members.size(), 0);
      for (const uint32_t owner : open->owners) ++open_.owned[owner];
    } else if (std::holds_alternative<coordinator::Committed>(entry.record)) {
      open_.seconds = absl::ToDoubleSeconds(timeline_->now() - opened_at_);
      exchanges.push_back(open_);
    }
  }
  void OnBroken(const std::string& what) override { ADD_FAILURE() << what; }

  std::vector<Exchange> exchanges;

 private:
  const size_t members_;
  const Timeline* timeline_ = nullptr;
  Instant opened_at_;
  Exchange open_;
};

job::JobSpec Spec(uint32_t workers, uint64_t rounds) {
  job::JobSpec spec;
  spec.name = "job";
  spec.model.config_json = job::kTinyConfig;
  spec.data.path = "/data";
  spec.data.manifest_sha256 = std::string(64, 'a');
  spec.training.batch_samples = 1;
  spec.training.tau = 1;
  spec.training.samples = rounds * workers;
  spec.training.evaluate_every = 1'000'000;
  spec.outer.method = job::OuterMethod::kLocalSgd;
  spec.exchange.codec = "bf16";
  spec.placement.workers_min = workers;
  const auto reviewed = job::ReviewJobSpec(spec);
  SKERRY_CHECK(reviewed.ok());
  return reviewed->spec;
}

struct Rates {
  double up = 0;  // 0: unlimited
  double down = 0;
};

std::vector<Watcher::Exchange> Exchanges(const std::vector<Rates>& mbit_per_s,
                                         uint64_t rounds) {
  ClusterShape cluster;
  cluster.host_ns_per_element = 0;
  cluster.lease = absl::Hours(2);
  for (size_t i = 0; i < mbit_per_s.size(); ++i) {
    IslandShape island;
    island.name = std::string(1, static_cast<char>('a' + i));
    island.compute = absl::Milliseconds(10);
    island.up_bytes_per_s = mbit_per_s[i].up * kMbitPerS;
    island.down_bytes_per_s = mbit_per_s[i].down * kMbitPerS;
    island.round_trip = absl::Milliseconds(20);
    cluster.islands.push_back(island);
  }
  const job::JobSpec spec =
      Spec(static_cast<uint32_t>(mbit_per_s.size()), rounds);
  const auto model = StandInFor(kElements, 1, spec.exchange.spans, "bf16");
  SKERRY_CHECK(model.ok());
  Watcher watcher(mbit_per_s.size());
  const std::vector<Absence> none;
  PlannedWorld world(cluster, spec, *model, none, /*seed=*/1, watcher);
  watcher.set_timeline(world.timeline);
  while (!world.AllJobsEnded()) world.timeline.RunNext();
  return watcher.exchanges;
}

// T of the formula with the rates that the links really have.
double LeastSeconds(const std::vector<Rates>& mbit_per_s) {
  planner::ExchangeShape shape;
  shape.elements = kElements;
  for (const Rates& rates : mbit_per_s) {
    planner::ExchangeMember member;
    member.replica = ReplicaId(shape.members.size() + 1);
    const auto real = [](double rate) {
      return rate == 0 ? 1e15 : rate * kMbitPerS;
    };
    member.link.up_bytes_per_s = real(rates.up);
    member.link.down_bytes_per_s = real(rates.down);
    shape.members.push_back(member);
  }
  return planner::ComputeOwnerShares(shape, kBytesPerElement)->seconds;
}

// Exchanges with equal shares before links are known.
constexpr size_t kEqual = 3;

void ExpectWithinATenth(const std::vector<Rates>& mbit_per_s,
                        double equal_at_least) {
  const double least = LeastSeconds(mbit_per_s);
  const auto exchanges = Exchanges(mbit_per_s, 12);
  ASSERT_EQ(exchanges.size(), 12u);
  for (size_t i = 0; i < exchanges.size(); ++i) {
    const double ratio = exchanges[i].seconds / least;
    std::printf("exchange %zu: %.1f s, %.3f of the least; spans owned:", i + 1,
                exchanges[i].seconds, ratio);
    for (const uint32_t spans : exchanges[i].owned) std::printf(" %u", spans);
    std::printf("\n");
    EXPECT_EQ(exchanges[i].IsEqual(), i < kEqual);
    if (i < kEqual) {
      EXPECT_GE(ratio, equal_at_least);
    } else {
      EXPECT_LE(ratio, 1.1);
    }
  }
}

TEST(OwnerSharesTest, UplinksOf200And100AndTwiceFiftyComeWithinATenth) {
  ExpectWithinATenth({{200, 0}, {100, 0}, {50, 0}, {50, 0}}, 1.45);
}

TEST(OwnerSharesTest, SoDoLinksThatAreAsNarrowBothWays) {
  ExpectWithinATenth({{200, 200}, {100, 100}, {50, 50}, {50, 50}}, 1.45);
}

TEST(OwnerSharesTest, SoDoWaysIn) {
  ExpectWithinATenth({{0, 200}, {0, 100}, {0, 50}, {0, 50}}, 1.45);
}

TEST(OwnerSharesTest, LinksThatAreAlikeKeepEqualShares) {
  for (const auto& exchange : Exchanges({{80, 80}, {80, 80}, {80, 80}}, 8)) {
    EXPECT_TRUE(exchange.IsEqual());
  }
}

// Links that have nothing in common, one way or both. What cannot be told from
// rates of pairs is found out: shares that do not pay are given up at once.
TEST(OwnerSharesTest, RandomLinksAreSeldomWorseAndThenOnlyOnce) {
  constexpr int kClusters = 32;
  Random random(7);
  const auto draw = [&random] { return 10 * std::pow(20, random.Uniform()); };
  std::vector<double> equal;
  std::vector<double> by_links;
  int worse = 0;
  for (int i = 0; i < kClusters; ++i) {
    std::vector<Rates> cluster(3 + random.Below(4));
    for (Rates& rates : cluster) {
      rates.up = i % 4 == 2 ? 0 : draw();
      rates.down = i % 4 == 0 ? rates.up : i % 4 == 1 ? 0 : draw();
    }
    const auto exchanges = Exchanges(cluster, kEqual + 2);
    const double least = LeastSeconds(cluster);
    equal.push_back(exchanges[kEqual - 1].seconds / least);
    by_links.push_back(exchanges[kEqual].seconds / least);
    if (by_links.back() <= 1.001 * equal.back()) continue;
    ++worse;
    EXPECT_TRUE(exchanges[kEqual + 1].IsEqual()) << "cluster " << i;
  }
  std::sort(equal.begin(), equal.end());
  std::sort(by_links.begin(), by_links.end());
  std::printf(
      "of the least time, equal shares: median %.3f, most %.3f; by links: "
      "median %.3f, 9 in 10 below %.3f, most %.3f; worse than equal in %d of "
      "%d\n",
      equal[kClusters / 2], equal.back(), by_links[kClusters / 2],
      by_links[kClusters * 9 / 10], by_links.back(), worse, kClusters);
  EXPECT_LE(by_links[kClusters / 2], 1.1);
  EXPECT_GE(equal[kClusters / 2], 1.4);
  EXPECT_LE(worse, kClusters / 8);
}

}  // namespace
}  // namespace skerry::sim
