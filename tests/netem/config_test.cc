#include "tests/netem/config.h"

#include <gtest/gtest.h>

namespace skerry::netem {
namespace {

TEST(RelayConfigTest, EveryMemberIsRead) {
  const auto config = ParseRelayConfig(R"({
    "seed": 9,
    "islands": [{"name": "a", "up_mbit": 100, "down_mbit": 200}],
    "links": [{"name": "ab", "listen": "127.0.0.1:1", "target": "127.0.0.1:2",
               "from": "a", "out_mbit": 50, "in_mbit": 25,
               "out_delay_ms": 20, "in_delay_ms": 30, "jitter_ms": 1.5,
               "stalls_per_mb": 0.25, "stall_ms": 300}]})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->seed, 9u);
  EXPECT_EQ(config->islands.at(0).down_mbit, 200);
  const LinkConfig& link = config->links.at(0);
  EXPECT_EQ(link.from, "a");
  EXPECT_EQ(link.to, "");
  EXPECT_EQ(link.mbit[kIn], 25);
  EXPECT_EQ(link.path[kIn].delay, absl::Milliseconds(30));
  EXPECT_EQ(link.path[kOut].jitter, absl::Microseconds(1500));
  EXPECT_EQ(link.path[kIn].stalls_per_mb, 0.25);
  EXPECT_EQ(link.path[kOut].stall, absl::Milliseconds(300));
}

TEST(RelayConfigTest, MistakesAreNamed) {
  const auto message = [](const char* text) {
    return std::string(ParseRelayConfig(text).status().message());
  };
  EXPECT_EQ(message("{"), "the configuration is not JSON");
  EXPECT_EQ(message("[]"), "configuration is not an object");
  EXPECT_EQ(message(R"({"sead": 1})"), "configuration.sead is not known");
  EXPECT_EQ(message(R"({"links": [{"name": "x"}]})"),
            "links[0].target is missing");
  EXPECT_EQ(
      message(R"({"links": [{"name": "x", "target": "t", "out_mbit": -1}]})"),
      "links[0].out_mbit is not a number >= 0");
  EXPECT_EQ(
      message(R"({"links": [{"name": "x", "target": "t", "from": "a"}]})"),
      "link x: there is no island a");
  EXPECT_EQ(message(R"({"islands": [{"name": "x"}],
                        "links": [{"name": "x", "target": "t"}]})"),
            "the name x is taken");
}

}  // namespace
}  // namespace skerry::netem
