#include "cli/reach_diagnosis.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace skerry::cli {
namespace {

using Verdict = Check::Verdict;

// "b1 of island west (10.0.0.1:7444: Connection refused)" for islands none of
// whose workers could dial it, one worker for each.
std::vector<std::string> IslandsWithout(const v1::WorkerView& worker) {
  std::set<std::string> reached;
  std::map<std::string, const v1::TriedBy*> failed;
  for (const v1::TriedBy& tried : worker.tried_by()) {
    if (tried.error().empty()) {
      reached.insert(tried.island());
    } else {
      failed.emplace(tried.island(), &tried);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [island, tried] : failed) {
    if (reached.contains(island)) continue;
    texts.push_back(absl::StrCat("island ", island, " (", tried->worker(), ": ",
                                 tried->error(), ")"));
  }
  return texts;
}

}  // namespace

bool IsReachedByAny(const v1::WorkerView& worker) {
  return std::any_of(
      worker.tried_by().begin(), worker.tried_by().end(),
      [](const v1::TriedBy& tried) { return tried.error().empty(); });
}

std::string TriedText(const v1::WorkerView& worker) {
  if (worker.tried_by().empty()) return "";
  int reached = 0;
  double least_ms = 0;
  for (const v1::TriedBy& tried : worker.tried_by()) {
    if (!tried.error().empty()) continue;
    least_ms = reached == 0 ? tried.round_trip_ms()
                            : std::min(least_ms, tried.round_trip_ms());
    ++reached;
  }
  return absl::StrCat(
      reached, " of ", worker.tried_by_size(),
      reached == 0 ? std::string() : absl::StrFormat(", %.1f ms", least_ms));
}

std::vector<Check> DiagnoseReach(const v1::ListWorkersReply& workers) {
  std::vector<Check> checks;
  int dialled = 0;
  for (const v1::WorkerView& worker : workers.workers()) {
    if (worker.state() == "lost") continue;
    const std::vector<std::string> islands = IslandsWithout(worker);
    dialled += worker.tried_by().empty() ? 0 : 1;
    if (islands.empty()) continue;
    const std::string text = absl::StrCat("it is not reachable from ",
                                          absl::StrJoin(islands, ", "), ": ");
    const std::string about = "worker " + worker.worker();
    if (worker.found_hidden()) {
      checks.push_back(
          {Verdict::kWarning, about,
           absl::StrCat(text,
                        "it opens the connections itself, so nothing has to be "
                        "done; with --outbound-only it would from its start")});
    } else if (IsReachedByAny(worker)) {
      checks.push_back({Verdict::kWarning, about,
                        absl::StrCat(text,
                                     "let its port through to there, add an "
                                     "--advertise that is reached from there, "
                                     "or start it with --outbound-only")});
    } else {
      checks.push_back(
          {Verdict::kProblem, about,
           absl::StrCat(text,
                        "correct its --advertise or open its port, or start it "
                        "with --outbound-only; where neither side can dial the "
                        "other, start a worker that both can dial with "
                        "--relay")});
    }
  }
  if (checks.empty() && dialled > 0) {
    checks.push_back({Verdict::kOk, "reach",
                      absl::StrCat("all ", dialled,
                                   " worker(s) that others have dialled can "
                                   "be")});
  }
  return checks;
}

}  // namespace skerry::cli
