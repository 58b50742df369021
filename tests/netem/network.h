// tests/netem/network.h
//
// The shared state of a relay: rates, delays and cuts by name, and the commands
// that change them. No I/O.
#ifndef SKERRY_TESTS_NETEM_NETWORK_H_
#define SKERRY_TESTS_NETEM_NETWORK_H_

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/netem/config.h"
#include "tests/netem/connection.h"

namespace skerry::netem {

// What the links of an island share. Index 0 is the way out, 1 the way in.
struct Island {
  std::array<TokenBucket, 2> buckets;
  std::array<CutMode, 2> cuts = {CutMode::kNone, CutMode::kNone};
};

struct Link {
  std::string name;
  std::string target;
  Island* from = nullptr;
  Island* to = nullptr;
  std::array<TokenBucket, 2> buckets;  // by Direction, like all below
  std::array<PathOptions, 2> path;
  std::array<CutMode, 2> cuts = {CutMode::kNone, CutMode::kNone};
  std::array<PathCounters, 2> counters;
  // Set by "reset"; the relay clears it when it has done so.
  bool wants_reset = false;
};

class Network {
 public:
  explicit Network(const RelayConfig& config);

  // In the order of the configuration; they do not move.
  const std::vector<std::unique_ptr<Link>>& links() const { return links_; }
  // By the link itself and by the islands at its ends.
  std::array<CutMode, 2> CutsOf(const Link& link) const;
  // All that bytes of a direction pass.
  std::vector<TokenBucket*> BucketsOf(Link& link, Direction direction);

  // Runs a command of relay.h other than "addresses" and "quit".
  // Errors: InvalidArgument.
  absl::Status Execute(const std::vector<std::string>& words);
  // {"links": {"ab": {"out_bytes": 1, "in_bytes": 2, ...}, ...}}
  std::string StatsJson() const;

 private:
  struct Named {
    std::array<CutMode*, 2> cuts;
    std::array<TokenBucket*, 2> buckets;
  };

  Link* FindLink(const std::string& name);
  absl::Status Find(const std::string& name, Named& named);
  absl::Status Cut(const std::vector<std::string>& words);
  absl::Status Heal(const std::string& name);
  absl::Status SetRate(const std::vector<std::string>& words);
  absl::Status SetPath(const std::vector<std::string>& words);
  absl::Status Reset(const std::string& name);

  std::map<std::string, Island> islands_;
  std::vector<std::unique_ptr<Link>> links_;
};

}  // namespace skerry::netem

#endif  // SKERRY_TESTS_NETEM_NETWORK_H_
