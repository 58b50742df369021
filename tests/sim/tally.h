// tests/sim/tally.h
//
// What a campaign has come to, and the page that says it.
#ifndef SKERRY_TESTS_SIM_TALLY_H_
#define SKERRY_TESTS_SIM_TALLY_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/sim/isolated.h"
#include "tests/sim/planted/plants.h"
#include "tests/sim/schedule.h"

namespace skerry::sim {

class Tally {
 public:
  void Add(const Verdict& verdict);

  uint64_t passed() const { return passed_; }
  // In the order of their seeds.
  const std::map<uint64_t, Verdict>& failed() const { return failed_; }
  uint64_t events() const { return events_; }

  // Markdown: what was run, by profile, with nothing that differs from one
  // machine to the next. `pinned`: names of the schedules that are run again
  // with every test.
  std::string Page(uint64_t first_seed, const std::vector<std::string>& pinned,
                   const std::vector<PlantedBug>& planted) const;

 private:
  struct Line {
    uint64_t schedules = 0;
    uint64_t events = 0;
    uint64_t commits = 0;
    uint64_t faults = 0;
    uint64_t failed = 0;
    int64_t took_ms = 0;
    std::vector<int64_t> resumed_ms;
  };
  std::map<std::string, Line> profiles_;
  uint64_t passed_ = 0;
  uint64_t events_ = 0;
  std::map<uint64_t, Verdict> failed_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_TALLY_H_
