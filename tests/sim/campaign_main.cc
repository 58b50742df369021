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
#include "runtime/command_line/number_option.h"
#include "runtime/command_line/parse_words.h"
#include "runtime/posix/stopwatch.h"
#include "tests/sim/isolated.h"
#include "tests/sim/ledger.h"
#include "tests/sim/planted/plants.h"
#include "tests/sim/run.h"
#include "tests/sim/shrink.h"
#include "tests/sim/tally.h"

namespace skerry::sim {
namespace {

constexpr int kShrunkMax = 3;
constexpr size_t kHistoryLines = 2000;
constexpr const char* kLedger = "tests/sim/ledger.txt";
// Schedules between two writings of the ledger.
constexpr uint64_t kBlock = 2000;

struct Arguments {
  uint64_t n = 1000;
  uint64_t seed = 1;
  std::string profile;
  std::string replay;
  std::string report;
  std::string ledger;
  int processes = 2;
  bool hashes = false;
};

Schedule ScheduleOf(const Arguments& arguments, uint64_t seed) {
  if (arguments.profile.empty()) return DrawSchedule(seed);
  return *DrawSchedule(seed, arguments.profile);
}

void Explain(uint64_t seed, const Tally::Failure& failure,
             const Schedule& schedule) {
  std::printf("seed %llu, profile %s: %s\n",
              static_cast<unsigned long long>(seed), failure.profile.c_str(),
              failure.violation.c_str());
  std::printf("  again: tools/test sim --n 1 --seed %llu --profile %s\n",
              static_cast<unsigned long long>(seed), failure.profile.c_str());
  // Each try is read from its text, so the printed text fails, too.
  const Schedule shrunk = Shrink(schedule, [](const Schedule& fewer) {
    return !RunIsolated(*ScheduleFromText(ToText(fewer))).violation.empty();
  });
  std::printf(
      "  shrunk from %zu to %zu faults; again with a file of all these "
      "lines: tools/test sim --replay FILE\n%s",
      schedule.faults.size(), shrunk.faults.size(), ToText(shrunk).c_str());
}

int Replay(const Arguments& arguments) {
  std::ifstream file(arguments.replay);
  std::stringstream text;
  text << file.rdbuf();
  const absl::StatusOr<Schedule> schedule = ScheduleFromText(text.str());
  if (!file || !schedule.ok()) {
    std::fprintf(stderr, "campaign: cannot read %s: %s\n",
                 arguments.replay.c_str(),
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

std::string Slurp(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Whoever reads it meanwhile sees the old one or the new one.
void Replace(const std::string& path, const std::string& text) {
  const std::string next = path + ".next";
  std::ofstream(next) << text;
  std::filesystem::rename(next, path);
}

// Runs `arguments.n` schedules from `tally`'s first seed on, behind those that
// it has.
void RunMore(const Arguments& arguments, uint64_t count, Tally& tally) {
  const uint64_t first = tally.first_seed() + tally.schedules();
  RunIsolated(
      count, arguments.processes,
      [&](uint64_t index) { return ScheduleOf(arguments, first + index); },
      [&](const Verdict& verdict) {
        tally.Add(ScheduleOf(arguments, verdict.seed), verdict);
        if (arguments.hashes) {
          std::printf("%llu %016llx\n",
                      static_cast<unsigned long long>(verdict.seed),
                      static_cast<unsigned long long>(verdict.hash));
        }
      });
}

void Summarize(const Arguments& arguments, const Tally& tally, double took) {
  int explained = 0;
  for (const auto& [seed, failure] : tally.failed()) {
    if (explained++ < kShrunkMax) {
      Explain(seed, failure, ScheduleOf(arguments, seed));
    } else {
      std::printf("seed %llu, profile %s: %s\n",
                  static_cast<unsigned long long>(seed),
                  failure.profile.c_str(), failure.violation.c_str());
    }
  }
  const auto count = static_cast<double>(tally.schedules());
  if (!arguments.hashes && count > 0) {
    std::printf(
        "%llu schedules in %.1f s on %d processes: %.0f a second, "
        "%.0f events each\n",
        static_cast<unsigned long long>(tally.schedules()), took,
        arguments.processes, count / took,
        static_cast<double>(tally.events()) / count);
  }
  std::printf("%llu passed, %zu failed\n",
              static_cast<unsigned long long>(tally.passed()),
              tally.failed().size());
}

int Campaign(const Arguments& arguments) {
  const runtime::Stopwatch watch;
  Tally tally(arguments.seed);
  RunMore(arguments, arguments.n, tally);
  Summarize(arguments, tally, watch.Seconds());
  return tally.failed().empty() ? 0 : 1;
}

// Begins where the ledger ends. The campaign's lines are written again and
// again, so that what is done stays when this is stopped.
int Continue(const Arguments& arguments) {
  const runtime::Stopwatch watch;
  absl::StatusOr<std::vector<Tally>> ledger =
      LedgerFromText(Slurp(arguments.ledger));
  if (!ledger.ok()) {
    std::fprintf(stderr, "campaign: %s: %s\n", arguments.ledger.c_str(),
                 ledger.status().ToString().c_str());
    return 1;
  }
  ledger->emplace_back(NextSeed(*ledger));
  Tally& tally = ledger->back();
  while (tally.schedules() < arguments.n) {
    RunMore(arguments, std::min(kBlock, arguments.n - tally.schedules()),
            tally);
    Replace(arguments.ledger, ToText(*ledger));
    std::printf("%llu schedules, %zu broken\n",
                static_cast<unsigned long long>(tally.schedules()),
                tally.failed().size());
    std::fflush(stdout);
  }
  Summarize(arguments, tally, watch.Seconds());
  return tally.failed().empty() ? 0 : 1;
}

int Report(const Arguments& arguments) {
  const absl::StatusOr<std::vector<Tally>> ledger =
      LedgerFromText(Slurp(kLedger));
  if (!ledger.ok()) {
    std::fprintf(stderr, "campaign: %s: %s\n", kLedger,
                 ledger.status().ToString().c_str());
    return 1;
  }
  Replace(arguments.report,
          ReliabilityPage(*ledger, PinnedNames(),
                          ReadPlants("tests/sim/planted/plants.txt")));
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app("Simulates whole clusters from seeds.", "campaign");
  Arguments arguments;
  runtime::AddNumber(app, "--n", arguments.n, {.low = 1}, "How many schedules");
  runtime::AddNumber(app, "--seed", arguments.seed, {}, "The first seed");
  app.add_option("--profile", arguments.profile,
                 "One profile instead of all in turn");
  runtime::AddNumber(app, "--processes", arguments.processes, {1, 64},
                     "That run at a time");
  app.add_option("--replay", arguments.replay, "One schedule from a file");
  app.add_option("--ledger", arguments.ledger,
                 "Goes on where this file of campaigns ends, and adds to it");
  app.add_option("--report", arguments.report,
                 "Writes what the ledger has come to, and runs nothing");
  app.add_flag("--hashes", arguments.hashes, "Print the hash of every history");
  if (const auto ended = runtime::ParseOrPrint(app, argc, argv)) return *ended;
  if (!arguments.replay.empty()) return Replay(arguments);
  if (!arguments.report.empty()) return Report(arguments);
  if (!arguments.profile.empty() &&
      !DrawSchedule(arguments.seed, arguments.profile).ok()) {
    std::fprintf(stderr, "campaign: no profile is called %s\n",
                 arguments.profile.c_str());
    return 1;
  }
  return arguments.ledger.empty() ? Campaign(arguments) : Continue(arguments);
}

}  // namespace
}  // namespace skerry::sim

int main(int argc, char** argv) { return skerry::sim::Main(argc, argv); }
