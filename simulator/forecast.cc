#include "simulator/forecast.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "data/sample_ranges.h"
#include "simulator/planned_world.h"
#include "simulator/stand_in.h"

namespace skerry::sim {
namespace {

using protocol::SeatCounters;

// The longest absence that the forecast waits for.
constexpr absl::Duration kAwayMax = absl::Hours(7 * 24);

// What shows in the journal and in what workers report.
class Tally final : public Observer {
 public:
  struct Commit {
    Instant at;
    uint64_t samples = 0;
    size_t members = 0;
  };

  void set_timeline(const Timeline& timeline) { timeline_ = &timeline; }

  void OnDurable(const coordinator::Entry& entry) override {
    if (const auto* open = std::get_if<coordinator::Opened>(&entry.record)) {
      Commit& attempt = attempts_[entry.index.value()];
      attempt.members = open->members.size();
      for (const protocol::Member& member : open->members) {
        attempt.samples += member.contribution.ranges.total();
      }
    } else if (const auto* commit =
                   std::get_if<coordinator::Committed>(&entry.record)) {
      commits.push_back(attempts_[commit->attempt.value()]);
      commits.back().at = timeline_->now();
    } else if (std::holds_alternative<coordinator::ReplicaAdmitted>(
                   entry.record)) {
      ++lives;
    } else if (const auto* end =
                   std::get_if<coordinator::JobEnded>(&entry.record)) {
      phase = end->phase;
      reason = end->reason;
    }
  }

  void OnStatusTaken(HostId from, uint64_t,
                     const protocol::StatusFacts& status) override {
    for (const protocol::JobFacts& job : status.jobs) {
      counters_[{from, status.boot.value()}] = job.counters;
    }
  }

  void OnBroken(const std::string& what) override { broken = what; }

  double StallShare() const {
    double stall = 0;
    double busy = 0;
    for (const auto& [process, one] : counters_) {
      stall += one.stall_s;
      busy += one.stall_s + one.compute_s;
    }
    return busy > 0 ? stall / busy : 0;
  }

  double MembersMean() const {
    double members = 0;
    for (const Commit& commit : commits) {
      members += static_cast<double>(commit.members);
    }
    return commits.empty() ? 0 : members / static_cast<double>(commits.size());
  }

  std::vector<Commit> commits;
  uint64_t lives = 0;
  protocol::JobPhase phase = protocol::JobPhase::kPending;
  std::string reason;
  std::string broken;

 private:
  const Timeline* timeline_ = nullptr;
  std::map<uint64_t, Commit> attempts_;
  // The counters that each run of a worker's process reported last, by its host
  // and boot.
  std::map<std::pair<HostId, uint64_t>, SeatCounters> counters_;
};

// Returns how long the forecast waits for a commit: twenty rounds or one
// exchange of the slowest island, at least an hour, plus the longest absence.
absl::Duration Patience(const ForecastProblem& problem) {
  absl::Duration longest = absl::Hours(1);
  const auto& training = problem.spec.training;
  for (const IslandShape& island : problem.cluster.islands) {
    longest = std::max(longest, island.compute * (20.0 * training.tau *
                                                  training.batch_samples));
    for (const double rate : {island.up_bytes_per_s, island.down_bytes_per_s}) {
      if (rate <= 0) continue;
      // Twice to each other worker, in four bytes an element.
      longest = std::max(
          longest, absl::Seconds(8.0 * static_cast<double>(problem.elements) *
                                 problem.cluster.workers() / rate));
    }
  }
  absl::Duration away;
  for (const Absence& one : problem.absences) {
    away = std::max(away, one.end - one.begin);
  }
  return longest + std::min(away, kAwayMax);
}

job::JobSpec InSmall(const ForecastProblem& problem) {
  job::JobSpec spec = problem.spec;
  // Reading the first checkpoint and saving others is not simulated.
  spec.model.checkpoint.reset();
  spec.checkpoint.reset();
  if (problem.rounds_max > 0) {
    spec.training.samples =
        std::min(spec.training.samples, problem.rounds_max * spec.training.tau *
                                            spec.training.batch_samples *
                                            problem.cluster.workers());
  }
  return spec;
}

absl::Status Check(const ForecastProblem& problem) {
  const uint32_t workers = problem.cluster.workers();
  if (workers == 0) {
    return absl::InvalidArgumentError("the cluster has no workers");
  }
  if (problem.spec.placement.workers_min > workers) {
    return absl::InvalidArgumentError(
        absl::StrCat("the job waits for ", problem.spec.placement.workers_min,
                     " workers, and the cluster has ", workers));
  }
  for (const std::string& name : problem.spec.placement.islands) {
    const auto& islands = problem.cluster.islands;
    if (std::any_of(islands.begin(), islands.end(),
                    [&](const auto& one) { return one.name == name; })) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "placement.islands names ", name, ", which the cluster does not have"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Forecast> MakeForecast(const ForecastProblem& problem) {
  SKERRY_RETURN_IF_ERROR(Check(problem));
  const job::JobSpec spec = InSmall(problem);
  const uint32_t fragments = job::FragmentCount(spec);
  SKERRY_ASSIGN_OR_RETURN(const StandIn model,
                          StandInFor(problem.elements, fragments,
                                     spec.exchange.spans, spec.exchange.codec));
  Tally tally;
  PlannedWorld world(problem.cluster, spec, model, problem.absences,
                     problem.seed, tally);
  tally.set_timeline(world.timeline);
  const absl::Duration patience = Patience(problem);
  while (!world.AllJobsEnded()) {
    const Instant since = tally.commits.empty() ? Instant(PlannedWorld::kBegin)
                                                : tally.commits.back().at;
    if (world.timeline.next() > since + patience) {
      return absl::FailedPreconditionError(absl::StrCat(
          "nothing was committed for ", absl::FormatDuration(patience),
          " after ", tally.commits.size(), " commits"));
    }
    world.timeline.RunNext();
    if (!tally.broken.empty()) return absl::InternalError(tally.broken);
  }
  if (tally.phase != protocol::JobPhase::kSucceeded) {
    return absl::FailedPreconditionError(
        absl::StrCat("the job fails: ", tally.reason));
  }
  Forecast forecast;
  forecast.commits = tally.commits.size();
  forecast.lives = tally.lives;
  forecast.members_mean = tally.MembersMean();
  forecast.stall_share = tally.StallShare();
  forecast.samples = spec.training.samples;
  forecast.bytes_sent = world.BytesSent();
  forecast.total = world.timeline.now() - Instant(PlannedWorld::kBegin);
  if (tally.commits.size() < 2) return forecast;
  const Instant first = tally.commits.front().at;
  const Instant last = tally.commits.back().at;
  uint64_t samples = 0;
  for (size_t i = 1; i < tally.commits.size(); ++i) {
    samples += tally.commits[i].samples;
  }
  forecast.measured = last - first;
  forecast.samples_per_s = static_cast<double>(samples) / fragments /
                           absl::ToDoubleSeconds(forecast.measured);
  const absl::Duration begin = first.since_start() - PlannedWorld::kBegin;
  forecast.live_share = LiveShare(problem.absences, problem.cluster.workers(),
                                  begin, begin + forecast.measured);
  return forecast;
}

}  // namespace skerry::sim
