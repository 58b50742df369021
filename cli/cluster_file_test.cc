#include "cli/cluster_file.h"

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<sim::ClusterShape> Read(const std::string& text) {
  const std::string path = testing::TempDir() + "/cluster.yaml";
  std::ofstream(path) << text;
  return ReadClusterFile(path, 3e9);
}

std::string ErrorOf(const std::string& text) {
  const auto cluster = Read(text);
  EXPECT_TRUE(absl::IsInvalidArgument(cluster.status())) << text;
  return std::string(cluster.status().message());
}

TEST(ClusterFileTest, SpeedsLinksAndDefaults) {
  const auto cluster = Read(R"(
islands:
  - {name: east, workers: 2, samples_per_s: 4, up_mbit_s: 100, rtt_ms: 30}
  - {name: west, seconds_per_sample: 0.5, down_mbit_s: 8}
  - {name: south, flops_per_s: 6e9}
links:
  - {from: south, to: east, mbit_s: 16, rtt_ms: 150}
)");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  ASSERT_EQ(cluster->islands.size(), 3);
  const auto& [east, west, south] =
      std::tie(cluster->islands[0], cluster->islands[1], cluster->islands[2]);
  EXPECT_EQ(east.name, "east");
  EXPECT_EQ(east.workers, 2);
  EXPECT_EQ(east.compute, absl::Milliseconds(250));
  EXPECT_EQ(east.up_bytes_per_s, 12.5e6);
  EXPECT_EQ(east.down_bytes_per_s, 0);
  EXPECT_EQ(east.round_trip, absl::Milliseconds(30));
  EXPECT_EQ(west.workers, 1);
  EXPECT_EQ(west.compute, absl::Milliseconds(500));
  EXPECT_EQ(west.down_bytes_per_s, 1e6);
  EXPECT_EQ(south.compute, absl::Milliseconds(500));
  ASSERT_EQ(cluster->links.size(), 1);
  const sim::IslandLink link = cluster->links.at({0, 2});
  EXPECT_EQ(link.bytes_per_s, 2e6);
  EXPECT_EQ(link.round_trip, absl::Milliseconds(150));
  EXPECT_EQ(cluster->workers(), 4);
  EXPECT_EQ(cluster->lease, absl::Seconds(10));
  EXPECT_EQ(cluster->jitter, 0);
}

TEST(ClusterFileTest, TheFirstIslandsKeepTheirLinks) {
  const auto cluster = Read(R"(
islands:
  - {name: a, samples_per_s: 1}
  - {name: b, samples_per_s: 1}
  - {name: c, samples_per_s: 1}
links:
  - {from: a, to: b, mbit_s: 1}
  - {from: b, to: c, mbit_s: 1}
)");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  const sim::ClusterShape two = FirstIslands(*cluster, 2);
  EXPECT_EQ(two.islands.size(), 2);
  EXPECT_EQ(two.links.size(), 1);
  EXPECT_TRUE(two.links.contains({0, 1}));
}

TEST(ClusterFileTest, EveryMistakeHasItsPlace) {
  EXPECT_THAT(ErrorOf("islands: [{name: a, samples_per_second: 1}]"),
              HasSubstr("cluster.yaml:1:21: islands[0]: there is no field "
                        "samples_per_second"));
  EXPECT_THAT(ErrorOf("lease_s: 3"), HasSubstr("islands: has to list 1 to"));
  EXPECT_THAT(ErrorOf("islands: [{name: a}]"),
              HasSubstr("islands[0]: needs one of samples_per_s"));
  EXPECT_THAT(ErrorOf("islands: [{name: a, samples_per_s: 1, flops_per_s: 1}]"),
              HasSubstr("islands[0]: needs one of samples_per_s"));
  EXPECT_THAT(ErrorOf("islands: [{name: a, samples_per_s: -1}]"),
              HasSubstr("islands[0].samples_per_s: has to be above 0"));
  EXPECT_THAT(ErrorOf("islands: [{name: a, samples_per_s: 1e300}]"),
              HasSubstr("islands[0].samples_per_s: has to be above 0 and at "
                        "most 1e+09, not 1e+300"));
  EXPECT_THAT(ErrorOf("islands: [{name: a, flops_per_s: 1e-300}]"),
              HasSubstr("islands[0].flops_per_s: makes a sample take"));
  EXPECT_THAT(ErrorOf("islands: [{samples_per_s: 1}]"),
              HasSubstr("islands[0].name: is needed"));
  EXPECT_THAT(ErrorOf("islands: [{name: a, samples_per_s: 1, workers: 0}]"),
              HasSubstr("islands[0].workers: has to be 1 to"));
  const std::string two =
      "islands: [{name: a, samples_per_s: 1}, {name: b, samples_per_s: 1}]\n";
  EXPECT_THAT(ErrorOf(two + "links: [{from: a, to: x}]"),
              HasSubstr("links[0].to: names no island: x"));
  EXPECT_THAT(ErrorOf(two + "links: [{from: a, to: a}]"),
              HasSubstr("links[0]: joins an island with itself"));
  EXPECT_THAT(ErrorOf(two + "links: [{from: a, to: b}, {from: b, to: a}]"),
              HasSubstr("links[1]: is given twice"));
  EXPECT_THAT(ErrorOf(two + "jitter: 1"), HasSubstr("jitter: has to be below"));
  EXPECT_THAT(ErrorOf("islands: [{name: a, samples_per_s: 1}, "
                      "{name: a, samples_per_s: 1}]"),
              HasSubstr("islands[1].name: is given twice: a"));
}

}  // namespace
}  // namespace skerry::cli
