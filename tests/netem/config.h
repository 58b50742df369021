// tests/netem/config.h
//
// What a relay emulates, and its JSON form:
//   {"seed": 1,
//    "islands": [{"name": "a", "up_mbit": 200, "down_mbit": 200}],
//    "links": [{"name": "ab", "listen": "127.0.0.1:0",
//               "target": "127.0.0.1:7443", "from": "a", "to": "b",
//               "out_mbit": 50, "in_mbit": 50, "out_delay_ms": 20,
//               "in_delay_ms": 20, "jitter_ms": 0, "stalls_per_mb": 0,
//               "stall_ms": 200}]}
// "out" is the way of what the connecting side sends. Rates of 0, the default,
// are unlimited; "from" and "to" may be left out.
#ifndef SKERRY_TESTS_NETEM_CONFIG_H_
#define SKERRY_TESTS_NETEM_CONFIG_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/netem/delay_line.h"

namespace skerry::netem {

enum Direction { kOut = 0, kIn = 1 };

struct IslandConfig {
  std::string name;
  double up_mbit = 0;
  double down_mbit = 0;
};

struct LinkConfig {
  std::string name;
  std::string listen = "127.0.0.1:0";
  std::string target = {};
  std::string from = {};  // island of the connecting side; may be empty
  std::string to = {};    // island of the target; may be empty
  std::array<double, 2> mbit = {0, 0};  // by Direction
  std::array<PathOptions, 2> path = {};
};

struct RelayConfig {
  uint64_t seed = 1;
  std::vector<IslandConfig> islands = {};
  std::vector<LinkConfig> links = {};
};

// Errors: InvalidArgument, with the name of what is wrong.
absl::StatusOr<RelayConfig> ParseRelayConfig(const std::string& json);

constexpr double BytesPerSecond(double mbit) { return mbit * 1e6 / 8; }

}  // namespace skerry::netem

#endif  // SKERRY_TESTS_NETEM_CONFIG_H_
