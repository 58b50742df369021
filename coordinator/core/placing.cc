#include "coordinator/core/placing.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/fit.h"

namespace skerry::coordinator {
namespace {

// Workers whose reasons are told.
constexpr size_t kReasonsMax = 3;

}  // namespace

bool IsAllowedOn(const job::JobSpec& spec, std::string_view island) {
  const auto& islands = spec.placement.islands;
  return islands.empty() ||
         std::find(islands.begin(), islands.end(), island) != islands.end();
}

std::string WhyApart(const WorkerTable& workers, const Worker& worker) {
  if (worker.left || worker.machine.host.empty()) return "";
  const Worker* first = workers.FirstOnHost(worker.island);
  if (first == nullptr || first->machine.host == worker.machine.host) return "";
  return absl::StrCat("it is on another host than ", first->self.worker,
                      ", which came to island ", worker.island,
                      " first, and workers of an island share memory; start "
                      "it with an --island of its own");
}

std::string WhyNoPlace(const job::JobSpec& spec, uint64_t memory_needed,
                       const WorkerTable& workers, const Worker& worker,
                       const Turn& turn, const ClusterOptions& options) {
  if (worker.left) return "it is lost";
  if (worker.intent == WorkerIntent::kCordon) return "it is cordoned";
  if (worker.Leaves()) return "it drains";
  if (!IsAllowedOn(spec, worker.island)) {
    return absl::StrCat("island ", worker.island,
                        " is not in placement.islands");
  }
  if (std::string why = WhyApart(workers, worker); !why.empty()) return why;
  if (std::string why = WhyTooSmall(memory_needed, worker); !why.empty()) {
    return why;
  }
  const size_t before = turn.BeforeOn(worker.island);
  if (before >= options.seats_max) {
    return absl::StrCat(before, " job(s) come first on island ", worker.island,
                        ", and a worker takes ", options.seats_max);
  }
  return turn.held;
}

std::string WhyItWaits(const JobState& job, const WorkerTable& workers,
                       const Turn& turn, const ClusterOptions& options) {
  if (!turn.held.empty()) return turn.held;
  size_t may = 0;
  // What went wrong is worth more than what is as it was told to be.
  std::vector<std::string> failed;
  std::vector<std::string> kept;
  for (const auto& [name, worker] : workers.all()) {
    const Seat* seat = job.SeatOf(name, worker.incarnation);
    if (seat != nullptr && !seat->unfit.empty()) {
      failed.push_back(absl::StrCat(name, " failed: ", seat->unfit));
      continue;
    }
    const std::string why =
        WhyNoPlace(job.spec, job.memory_needed, workers, worker, turn, options);
    if (why.empty()) {
      ++may;
    } else {
      kept.push_back(absl::StrCat(name, ": ", why));
    }
  }
  failed.insert(failed.end(), kept.begin(), kept.end());
  std::string text = absl::StrCat("it needs ", job.spec.placement.workers_min,
                                  " worker(s) and may have ", may);
  const size_t shown = std::min(failed.size(), kReasonsMax);
  for (size_t i = 0; i < shown; ++i) absl::StrAppend(&text, "; ", failed[i]);
  if (shown < failed.size()) {
    absl::StrAppend(&text, "; and ", failed.size() - shown, " more");
  }
  return text;
}

}  // namespace skerry::coordinator
