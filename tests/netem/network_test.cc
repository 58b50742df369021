#include "tests/netem/network.h"

#include <gtest/gtest.h>

namespace skerry::netem {
namespace {

class NetworkTest : public testing::Test {
 protected:
  NetworkTest()
      : network_({.islands = {{.name = "a", .up_mbit = 8},
                              {.name = "b", .down_mbit = 16}},
                  .links = {{.name = "ab", .from = "a", .to = "b"},
                            {.name = "free"}}}) {}
  Link& ab() { return *network_.links()[0]; }
  Network network_;
};

TEST_F(NetworkTest, BytesPassTheLinkAndTheIslandsTheyLeaveAndEnter) {
  const auto out = network_.BucketsOf(ab(), kOut);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[1]->bytes_per_s(), 1e6);  // a's uplink
  EXPECT_EQ(out[2]->bytes_per_s(), 2e6);  // b's downlink
  const auto in = network_.BucketsOf(ab(), kIn);
  EXPECT_EQ(in[1]->bytes_per_s(), 0);  // b's uplink
  EXPECT_EQ(network_.BucketsOf(*network_.links()[1], kOut).size(), 1u);
}

TEST_F(NetworkTest, CuttingAnIslandCutsWhatLeavesOrEntersIt) {
  using Cuts = std::array<CutMode, 2>;
  EXPECT_TRUE(network_.Execute({"cut", "b", "out"}).ok());
  EXPECT_EQ(network_.CutsOf(ab()), (Cuts{CutMode::kNone, CutMode::kHold}));
  EXPECT_TRUE(network_.Execute({"cut", "a", "both", "drop"}).ok());
  EXPECT_EQ(network_.CutsOf(ab()), (Cuts{CutMode::kDrop, CutMode::kDrop}));
  EXPECT_EQ(network_.CutsOf(*network_.links()[1]),
            (Cuts{CutMode::kNone, CutMode::kNone}));
  EXPECT_TRUE(network_.Execute({"heal", "a"}).ok());
  EXPECT_EQ(network_.CutsOf(ab()), (Cuts{CutMode::kNone, CutMode::kHold}));
  EXPECT_TRUE(network_.Execute({"heal", "all"}).ok());
  EXPECT_EQ(network_.CutsOf(ab()), (Cuts{CutMode::kNone, CutMode::kNone}));
}

TEST_F(NetworkTest, EveryKnobTurns) {
  EXPECT_TRUE(network_.Execute({"rate", "ab", "in", "80"}).ok());
  EXPECT_EQ(ab().buckets[kIn].bytes_per_s(), 1e7);
  EXPECT_EQ(ab().buckets[kOut].bytes_per_s(), 0);
  EXPECT_TRUE(network_.Execute({"delay", "ab", "out", "12.5"}).ok());
  EXPECT_EQ(ab().path[kOut].delay, absl::Microseconds(12500));
  EXPECT_TRUE(network_.Execute({"jitter", "ab", "3"}).ok());
  EXPECT_EQ(ab().path[kIn].jitter, absl::Milliseconds(3));
  EXPECT_TRUE(network_.Execute({"stalls", "ab", "0.5", "300"}).ok());
  EXPECT_EQ(ab().path[kOut].stalls_per_mb, 0.5);
  EXPECT_EQ(ab().path[kIn].stall, absl::Milliseconds(300));
  EXPECT_TRUE(network_.Execute({"target", "ab", "127.0.0.1:9"}).ok());
  EXPECT_EQ(ab().target, "127.0.0.1:9");
  EXPECT_TRUE(network_.Execute({"reset", "ab"}).ok());
  EXPECT_TRUE(ab().wants_reset);
}

TEST_F(NetworkTest, WrongCommandsSayWhatIsWrongAndChangeNothing) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"cut", "nobody", "out"},
                                             {"cut", "ab", "up"},
                                             {"cut", "ab", "out", "slowly"},
                                             {"cut", "ab"},
                                             {"rate", "ab", "out", "-1"},
                                             {"rate", "ab", "out", "fast"},
                                             {"delay", "a", "out", "1"},
                                             {"reset", "a"},
                                             {"dance"}}) {
    EXPECT_FALSE(network_.Execute(words).ok()) << words[0];
  }
  EXPECT_EQ(network_.CutsOf(ab())[kOut], CutMode::kNone);
}

}  // namespace
}  // namespace skerry::netem
