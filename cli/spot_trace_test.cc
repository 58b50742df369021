#include "cli/spot_trace.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using ::testing::StartsWith;

sim::ClusterShape Cluster() {
  sim::ClusterShape cluster;
  cluster.islands.push_back({.name = "east", .workers = 2});
  cluster.islands.push_back({.name = "west"});
  return cluster;
}

std::string ErrorOf(const std::string& text) {
  const auto absences = ParseSpotTrace("spot.csv", text, Cluster());
  EXPECT_TRUE(absl::IsInvalidArgument(absences.status())) << text;
  return std::string(absences.status().message());
}

TEST(SpotTraceTest, LinesBecomeAbsences) {
  const auto absences = ParseSpotTrace("spot.csv",
                                       "# seconds,worker,state\n"
                                       "10,east1,down\n"
                                       "\n"
                                       "12.5, west0, down\r\n"
                                       "40,east1,up\n"
                                       "50,east1,down\n",
                                       Cluster());
  ASSERT_TRUE(absences.ok()) << absences.status();
  ASSERT_EQ(absences->size(), 3);
  EXPECT_EQ((*absences)[0],
            (sim::Absence{1, absl::Seconds(10), absl::Seconds(40)}));
  EXPECT_EQ((*absences)[1].worker, 2);
  EXPECT_EQ((*absences)[1].begin, absl::Seconds(12.5));
  // Nobody gives it back.
  EXPECT_GT((*absences)[1].end, absl::Hours(10'000));
  EXPECT_EQ((*absences)[2].begin, absl::Seconds(50));
}

TEST(SpotTraceTest, EveryMistakeNamesItsLine) {
  EXPECT_THAT(ErrorOf("10;east1;down"), StartsWith("spot.csv:1: has to be"));
  EXPECT_THAT(ErrorOf("\n-1,east1,down"),
              StartsWith("spot.csv:2: SECONDS has to be a number from 0 to "));
  EXPECT_THAT(ErrorOf("1e300,east1,down"),
              StartsWith("spot.csv:1: SECONDS has to be a number from 0 to "));
  EXPECT_THAT(ErrorOf("10,east2,down"),
              StartsWith("spot.csv:1: the cluster has no worker east2"));
  EXPECT_THAT(ErrorOf("10,east1,gone"),
              StartsWith("spot.csv:1: has to be up or down"));
  EXPECT_THAT(ErrorOf("10,east1,up"),
              StartsWith("spot.csv:1: east1 is up already"));
  EXPECT_THAT(ErrorOf("10,east1,down\n11,east1,down"),
              StartsWith("spot.csv:2: east1 is down already"));
  EXPECT_THAT(ErrorOf("10,east1,down\n9,east1,up"),
              StartsWith("spot.csv:2: is earlier"));
}

}  // namespace
}  // namespace skerry::cli
