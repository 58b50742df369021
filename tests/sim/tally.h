// tests/sim/tally.h
//
// The result of one campaign, which is schedules of consecutive seeds.
#ifndef SKERRY_TESTS_SIM_TALLY_H_
#define SKERRY_TESTS_SIM_TALLY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tests/sim/isolated.h"
#include "tests/sim/schedule.h"

namespace skerry::sim {

// How soon after calm a job went on: up to so many milliseconds; the last holds
// the rest.
inline constexpr std::array<int64_t, 5> kResumedMs = {100, 300, 1000, 3000,
                                                      10000};

struct ProfileTally {
  uint64_t schedules = 0;
  uint64_t events = 0;
  uint64_t commits = 0;
  uint64_t failed = 0;
  // Simulated.
  uint64_t took_ms = 0;
  std::array<uint64_t, kResumedMs.size() + 1> resumed = {};
};

class Tally {
 public:
  explicit Tally(uint64_t first_seed) : first_seed_(first_seed) {}

  // `schedule` is the one that the verdict is about.
  void Add(const Schedule& schedule, const Verdict& verdict);
  // Adds all that `other` has, but for its seeds.
  void Add(const Tally& other);

  uint64_t first_seed() const { return first_seed_; }
  uint64_t schedules() const;
  uint64_t events() const;
  uint64_t passed() const { return schedules() - failed_.size(); }
  const std::map<std::string, ProfileTally>& profiles() const {
    return profiles_;
  }
  const std::array<uint64_t, kFaultKindCount>& faults() const {
    return faults_;
  }
  // In the order of their seeds: profile and what was broken.
  struct Failure {
    std::string profile;
    std::string violation;
  };
  const std::map<uint64_t, Failure>& failed() const { return failed_; }

  // Lines of a ledger, the first of which begins with "campaign"; with nothing
  // that differs from one machine to the next.
  std::string ToText() const;
  // Takes in one line behind the first. Errors: InvalidArgument.
  absl::Status TakeLine(std::string_view line);

 private:
  uint64_t first_seed_;
  std::map<std::string, ProfileTally> profiles_;
  std::array<uint64_t, kFaultKindCount> faults_ = {};
  std::map<uint64_t, Failure> failed_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_TALLY_H_
