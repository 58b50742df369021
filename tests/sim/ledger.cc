#include "tests/sim/ledger.h"

#include <algorithm>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"

namespace skerry::sim {
namespace {

constexpr const char* kHead =
    "# Campaigns of simulated schedules, oldest first. Written by\n"
    "# tools/test sim --ledger tests/sim/ledger.txt\n"
    "# campaign FIRST_SEED\n"
    "# profile NAME SCHEDULES EVENTS COMMITS BROKEN SIMULATED_MS, and how "
    "many\n"
    "#   resumed within 100, 300, 1000, 3000, 10000 ms, and later\n"
    "# faults KIND COUNT\n"
    "# broken SEED PROFILE WHAT, as it was then\n";

constexpr double kMsAnHour = 3.6e6;

void AddProfiles(const Tally& all, std::string& page) {
  absl::StrAppend(
      &page,
      "| profile | schedules | events | commits | simulated hours | resumed "
      "within 0.3 s | 3 s | broken |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const auto& [name, line] : all.profiles()) {
    uint64_t within[2] = {line.resumed[0] + line.resumed[1], 0};
    within[1] = within[0] + line.resumed[2] + line.resumed[3];
    const auto share = [&line](uint64_t count) {
      return 100.0 * static_cast<double>(count) /
             static_cast<double>(line.schedules);
    };
    absl::StrAppendFormat(
        &page, "| %s | %d | %d | %d | %.1f | %.1f %% | %.1f %% | %d |\n", name,
        line.schedules, line.events, line.commits,
        static_cast<double>(line.took_ms) / kMsAnHour, share(within[0]),
        share(within[1]), line.failed);
  }
}

void AddCampaigns(const std::vector<Tally>& ledger, std::string& page) {
  absl::StrAppend(&page,
                  "\n## Campaigns\n\n| seeds | schedules | events | broken |\n"
                  "| --- | --- | --- | --- |\n");
  for (const Tally& one : ledger) {
    absl::StrAppend(&page, "| ", one.first_seed(), " to ",
                    one.first_seed() + one.schedules() - 1, " | ",
                    one.schedules(), " | ", one.events(), " | ",
                    one.failed().size(), " |\n");
  }
  absl::StrAppend(&page,
                  "\nEach campaign ran the program of its day. The faults of "
                  "these broken schedules have been fixed since, or the "
                  "simulator's page names them as open:\n\n");
  size_t broken = 0;
  for (const Tally& one : ledger) {
    for (const auto& [seed, failure] : one.failed()) {
      absl::StrAppend(&page, "- seed ", seed, ", ", failure.profile, ": ",
                      failure.violation, "\n");
      ++broken;
    }
  }
  if (broken == 0) absl::StrAppend(&page, "- nothing\n");
}

}  // namespace

absl::StatusOr<std::vector<Tally>> LedgerFromText(std::string_view text) {
  std::vector<Tally> ledger;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string word;
    uint64_t seed = 0;
    if (words >> word && word == "campaign" && words >> seed) {
      ledger.emplace_back(seed);
    } else if (ledger.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no campaign before: ", line));
    } else {
      SKERRY_RETURN_IF_ERROR(ledger.back().TakeLine(line));
    }
  }
  return ledger;
}

std::string ToText(const std::vector<Tally>& ledger) {
  std::string text = kHead;
  for (const Tally& one : ledger) absl::StrAppend(&text, one.ToText());
  return text;
}

uint64_t NextSeed(const std::vector<Tally>& ledger) {
  uint64_t next = 1;
  for (const Tally& one : ledger) {
    next = std::max(next, one.first_seed() + one.schedules());
  }
  return next;
}

std::string ReliabilityPage(const std::vector<Tally>& ledger,
                            const std::vector<std::string>& pinned,
                            const std::vector<PlantedBug>& planted) {
  Tally all(0);
  for (const Tally& one : ledger) all.Add(one);
  std::string page = absl::StrCat(
      "# Reliability\n\n`tools/test sim --report RELIABILITY.md` makes this "
      "page from [the ledger](tests/sim/ledger.txt). Do not edit it. [The "
      "simulator's page](docs/simulation.md) says what is simulated and what "
      "is checked.\n\n",
      all.schedules(), " schedules have run, each a whole cluster from one ",
      "seed, with ", all.events(),
      " events together. In a \"broken\" schedule a checker found a fault. "
      "\"Resumed within\" has the share of schedules whose job went on that "
      "soon after the faults ended.\n\n");
  AddProfiles(all, page);
  absl::StrAppend(&page,
                  "\n## Faults\n\n| kind | times |\n"
                  "| --- | --- |\n");
  for (size_t i = 0; i < all.faults().size(); ++i) {
    absl::StrAppend(&page, "| ", FaultName(static_cast<FaultKind>(i)), " | ",
                    all.faults()[i], " |\n");
  }
  AddCampaigns(ledger, page);
  absl::StrAppend(&page, "\n## Pinned\n\nEvery test run runs these again:\n\n");
  for (const std::string& name : pinned) {
    absl::StrAppend(&page, "- ", name, "\n");
  }
  if (pinned.empty()) absl::StrAppend(&page, "- none yet\n");
  absl::StrAppend(
      &page,
      "\n## Planted\n\nTests plant these bugs on purpose ([what each "
      "is](tests/sim/planted/plants.txt)). The checkers have to see "
      "each within a number of schedules. The [simulator's "
      "page](docs/simulation.md) names those that they do not see:\n\n"
      "| bug | schedules |\n| --- | --- |\n");
  for (const PlantedBug& bug : planted) {
    absl::StrAppend(&page, "| ", bug.name, " | ", bug.within,
                    bug.profile.empty() ? "" : " of profile ", bug.profile,
                    " |\n");
  }
  return page;
}

}  // namespace skerry::sim
