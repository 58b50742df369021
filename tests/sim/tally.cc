#include "tests/sim/tally.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace skerry::sim {
namespace {

// The smallest value that `share` of them do not pass.
double QuantileSeconds(std::vector<int64_t> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  return static_cast<double>(values[static_cast<size_t>(last * share)]) / 1000;
}

}  // namespace

void Tally::Add(const Verdict& verdict) {
  Line& line = profiles_[verdict.profile];
  ++line.schedules;
  line.events += verdict.events;
  line.commits += verdict.commits;
  line.faults += verdict.faults;
  line.took_ms += verdict.took_ms;
  line.resumed_ms.push_back(verdict.resumed_ms);
  events_ += verdict.events;
  if (verdict.violation.empty()) {
    ++passed_;
  } else {
    ++line.failed;
    failed_[verdict.seed] = verdict;
  }
}

std::string Tally::Page(uint64_t first_seed,
                        const std::vector<std::string>& pinned,
                        const std::vector<PlantedBug>& planted) const {
  const uint64_t count = passed_ + failed_.size();
  std::string page = absl::StrCat(
      "# Reliability\n\nMade by `tools/test sim --n ", count, " --seed ",
      first_seed,
      " --report RELIABILITY.md`; do not edit. What is simulated, "
      "and what is not, is in [the simulator's page](docs/simulation.md).\n\n");
  absl::StrAppendFormat(&page,
                        "%d schedules, each a whole cluster from one seed: %d "
                        "kept every promise, "
                        "%d did not.\n\n",
                        count, passed_, failed_.size());
  absl::StrAppend(
      &page,
      "| profile | schedules | events | faults | commits | simulated hours | "
      "resumed after, p50 s | p99 s | broken |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const auto& [name, line] : profiles_) {
    absl::StrAppendFormat(
        &page, "| %s | %d | %d | %d | %d | %.1f | %.2f | %.2f | %d |\n", name,
        line.schedules, line.events, line.faults, line.commits,
        static_cast<double>(line.took_ms) / 3.6e6,
        QuantileSeconds(line.resumed_ms, 0.5),
        QuantileSeconds(line.resumed_ms, 0.99), line.failed);
  }
  if (!failed_.empty()) absl::StrAppend(&page, "\n## Broken\n\n");
  for (const auto& [seed, verdict] : failed_) {
    absl::StrAppend(&page, "- seed ", seed, ": ",
                    verdict.violation.substr(0, verdict.violation.find('\n')),
                    "\n");
  }
  absl::StrAppend(&page, "\n## Pinned\n\nRun again with every test:\n\n");
  for (const std::string& name : pinned) {
    absl::StrAppend(&page, "- ", name, "\n");
  }
  if (pinned.empty()) absl::StrAppend(&page, "- none yet\n");
  absl::StrAppend(&page,
                  "\n## Planted\n\nBugs that were put in to see whether they "
                  "are seen ([what each is](tests/sim/planted/plants.txt)):\n\n"
                  "| bug | seen within, schedules |\n| --- | --- |\n");
  for (const PlantedBug& bug : planted) {
    absl::StrAppend(&page, "| ", bug.name, " | ", bug.within, " |\n");
  }
  return page;
}

}  // namespace skerry::sim
