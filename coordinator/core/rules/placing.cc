#include "coordinator/core/rules/placing.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/rules/fit.h"
#include "coordinator/core/rules/programs.h"
#include "coordinator/core/rules/relays.h"

namespace skerry::coordinator {
namespace {

// Workers whose reasons are told.
constexpr size_t kReasonsMax = 3;

// Says why two workers that both cannot be dialled have no relay, and the cure.
std::string WhyNoRelay(const WorkerTable& workers, const Worker& worker,
                       const Worker& first) {
  std::string why =
      absl::StrCat("it cannot be dialled, and neither can ", first.self.worker,
                   " of island ", first.island,
                   ", which came first, so they cannot reach each other; ");
  if (workers.relays().empty()) {
    absl::StrAppend(&why,
                    "start a worker that others can dial with --relay, or "
                    "forward a port to one of the two and start it without "
                    "--outbound-only");
  } else {
    const Worker& old = worker.takes_relays ? first : worker;
    absl::StrAppend(&why, "install this release on ", old.self.worker,
                    ", which uses no relays");
  }
  return why;
}

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
                      " first, and both meet others in shared memory only; "
                      "start it with an --island of its own, or both with "
                      "--island-address");
}

bool TrainsAlone(const JobState& job, const WorkerTable& workers,
                 std::string_view island) {
  for (const auto& [name, seat] : job.seats) {
    if (seat.facts.trains_alone && workers.IsCurrent(name, seat.incarnation) &&
        workers.FindCurrent(name)->island == island) {
      return true;
    }
  }
  return false;
}

std::string WhyBesideOne(const JobState& job, const WorkerTable& workers,
                         const Worker& worker) {
  // The usual case is found first: the views ask for each worker of the job.
  const Replica* own = job.replicas.FindWorker(worker.self.worker);
  if (own != nullptr && own->island == worker.island) return "";
  std::string other;
  const auto place = job.places.find(worker.island);
  if (const Replica* replica = job.replicas.FindIsland(worker.island)) {
    other = replica->holders[0].peer.worker;
  } else if (place != job.places.end()) {
    other = place->second.workers[0];
  }
  if (other.empty() || other == worker.self.worker ||
      !TrainsAlone(job, workers, worker.island)) {
    return "";
  }
  return absl::StrCat("its trainer cannot compute with others, and ", other,
                      " trains for island ", worker.island,
                      "; start it with an --island of its own");
}

Needed NeededBy(const JobState& job) {
  return {job.memory_needed, job.program_sha256, &job.replicas};
}

std::string WhyOutOfReach(const job::JobSpec& spec, const Needed& needed,
                          const WorkerTable& workers, const Worker& worker) {
  if (worker.left || !worker.IsHidden()) return "";
  const auto lives = [&](const std::string& name) {
    return needed.replicas != nullptr &&
           needed.replicas->FindWorker(name) != nullptr;
  };
  for (const auto& [name, other] : workers.all()) {
    if (other.left || other.island == worker.island || other.Leaves() ||
        other.intent == WorkerIntent::kCordon ||
        CanReach(workers, worker, other) || !IsAllowedOn(spec, other.island)) {
      continue;
    }
    if (!other.IsHidden()) {
      return absl::StrCat("it cannot be dialled, and ", name, " of island ",
                          other.island,
                          " takes no streams that others open; install this "
                          "release there");
    }
    // The second one stays out.
    const std::pair rank(!lives(worker.self.worker), worker.incarnation);
    if (std::pair(!lives(name), other.incarnation) > rank) continue;
    return WhyNoRelay(workers, worker, other);
  }
  return "";
}

std::string WhyLeftOut(const JobState& job, const WorkerTable& workers,
                       const Worker& worker) {
  if (worker.left || !IsAllowedOn(job.spec, worker.island)) return "";
  if (ProgramOn(job.spec, worker) != nullptr) {
    std::string why = WhyNoProgram(job.spec, job.program_sha256, worker);
    if (!why.empty()) return why;
  }
  std::string why = WhyOutOfReach(job.spec, NeededBy(job), workers, worker);
  return why.empty() ? WhyBesideOne(job, workers, worker) : why;
}

std::string WhyNoPlace(const job::JobSpec& spec, const Needed& needed,
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
  if (std::string why = WhyOutOfReach(spec, needed, workers, worker);
      !why.empty()) {
    return why;
  }
  if (std::string why = WhyTooSmall(needed.memory_bytes, worker);
      !why.empty()) {
    return why;
  }
  if (std::string why = WhyNoProgram(spec, needed.program_sha256, worker);
      !why.empty()) {
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
    std::string why =
        WhyNoPlace(job.spec, NeededBy(job), workers, worker, turn, options);
    if (why.empty()) why = WhyBesideOne(job, workers, worker);
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
