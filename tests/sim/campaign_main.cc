// Runs schedules from consecutive seeds, and ends with `N passed, N failed`.
// A failing one is shrunk and printed as text that can be run again.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "runtime/posix/stopwatch.h"
#include "tests/sim/isolated.h"
#include "tests/sim/planted/plants.h"
#include "tests/sim/run.h"
#include "tests/sim/shrink.h"
#include "tests/sim/tally.h"

namespace skerry::sim {
namespace {

constexpr int kShrunkMax = 3;
constexpr size_t kHistoryLines = 2000;

struct Arguments {
  uint64_t n = 1000;
  uint64_t seed = 1;
  std::string profile;
  std::string replay;
  std::string report;
  int processes = 2;
  bool hashes = false;
};

Schedule ScheduleOf(const Arguments& arguments, uint64_t index) {
  const uint64_t seed = arguments.seed + index;
  if (arguments.profile.empty()) return DrawSchedule(seed);
  return *DrawSchedule(seed, arguments.profile);
}

void Explain(const Verdict& verdict, const Schedule& schedule) {
  std::printf("seed %llu, profile %s: %s\n",
              static_cast<unsigned long long>(verdict.seed),
              verdict.profile.c_str(), verdict.violation.c_str());
  std::printf("  again: tools/test sim --n 1 --seed %llu --profile %s\n",
              static_cast<unsigned long long>(verdict.seed),
              verdict.profile.c_str());
  const Schedule shrunk = Shrink(schedule, [](const Schedule& fewer) {
    return !RunIsolated(fewer).violation.empty();
  });
  std::printf(
      "  shrunk from %zu to %zu faults; again with a file of these "
      "lines: tools/test sim --replay FILE\n%s",
      schedule.faults.size(), shrunk.faults.size(), ToText(shrunk).c_str());
}

int Replay(const Arguments& arguments) {
  std::ifstream file(arguments.replay);
  std::stringstream text;
  text << file.rdbuf();
  const absl::StatusOr<Schedule> schedule = ScheduleFromText(text.str());
  if (!file || !schedule.ok()) {
    std::fprintf(stderr, "sim: cannot read %s: %s\n", arguments.replay.c_str(),
                 schedule.status().ToString().c_str());
    return 1;
  }
  const RunResult result = Run(*schedule, {.history_lines = kHistoryLines});
  for (const std::string& line : result.lines) {
    std::printf("%s\n", absl::CEscape(line).c_str());
  }
  for (const std::string& violation : result.violations) {
    std::printf("broken: %s\n", violation.c_str());
  }
  const bool passed = result.violations.empty();
  std::printf("%d passed, %d failed\n", passed ? 1 : 0, passed ? 0 : 1);
  return passed ? 0 : 1;
}

std::vector<std::string> PinnedNames() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator("tests/sim/pinned", ignored)) {
    if (entry.path().extension() == ".txt") {
      names.push_back(entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

int Campaign(const Arguments& arguments) {
  const runtime::Stopwatch watch;
  Tally tally;
  RunIsolated(
      arguments.n, arguments.processes,
      [&](uint64_t index) { return ScheduleOf(arguments, index); },
      [&](const Verdict& verdict) {
        tally.Add(verdict);
        if (arguments.hashes) {
          std::printf("%llu %016llx\n",
                      static_cast<unsigned long long>(verdict.seed),
                      static_cast<unsigned long long>(verdict.hash));
        }
      });
  const double took = watch.Seconds();
  int explained = 0;
  for (const auto& [seed, verdict] : tally.failed()) {
    if (explained++ == kShrunkMax) break;
    Explain(verdict, ScheduleOf(arguments, seed - arguments.seed));
  }
  if (!arguments.report.empty()) {
    std::ofstream(arguments.report)
        << tally.Page(arguments.seed, PinnedNames(),
                      ReadPlants("tests/sim/planted/plants.txt"));
  }
  if (!arguments.hashes) {
    std::printf(
        "%llu schedules in %.1f s on %d processes: %.0f a second, "
        "%.0f events each\n",
        static_cast<unsigned long long>(arguments.n), took, arguments.processes,
        static_cast<double>(arguments.n) / took,
        static_cast<double>(tally.events()) / static_cast<double>(arguments.n));
  }
  std::printf("%llu passed, %zu failed\n",
              static_cast<unsigned long long>(tally.passed()),
              tally.failed().size());
  return tally.failed().empty() ? 0 : 1;
}

int Main(int argc, char** argv) {
  CLI::App app("Simulates whole clusters from seeds.");
  Arguments arguments;
  app.add_option("--n", arguments.n, "How many schedules");
  app.add_option("--seed", arguments.seed, "The first seed");
  app.add_option("--profile", arguments.profile,
                 "One profile instead of all in turn");
  app.add_option("--processes", arguments.processes, "That run at a time")
      ->check(CLI::Range(1, 64));
  app.add_option("--replay", arguments.replay, "One schedule from a file");
  app.add_option("--report", arguments.report, "Where to write the page");
  app.add_flag("--hashes", arguments.hashes, "Print the hash of every history");
  CLI11_PARSE(app, argc, argv);
  if (!arguments.replay.empty()) return Replay(arguments);
  if (!arguments.profile.empty() &&
      !DrawSchedule(arguments.seed, arguments.profile).ok()) {
    std::fprintf(stderr, "sim: no profile is called %s\n",
                 arguments.profile.c_str());
    return 1;
  }
  return Campaign(arguments);
}

}  // namespace
}  // namespace skerry::sim

int main(int argc, char** argv) { return skerry::sim::Main(argc, argv); }
