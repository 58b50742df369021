#include "tests/sim/run.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "simulator/seat_node.h"
#include "simulator/worker_node.h"
#include "tests/sim/check/checker_set.h"
#include "tests/sim/faulty_world.h"

namespace skerry::sim {
namespace {

// Processes and trainers start, and supervisors look round.
constexpr absl::Duration kStarting = absl::Seconds(2);
// Rounds at which a job may go on after calm, as a multiple of the longest.
constexpr double kCompletionRounds = 12;
constexpr uint64_t kEventsMax = 2'000'000;

absl::Duration LongestRound(const Schedule& schedule) {
  absl::Duration longest;
  for (const JobShape& job : schedule.jobs) {
    for (const WorkerShape& worker : schedule.workers) {
      // Two workers of an island share a batch of twice the size.
      longest = std::max(longest,
                         worker.compute * (2.0 * job.tau * job.batch_samples));
    }
  }
  // The exchange: offers, two hops, reports, orders, with jitter.
  return longest * static_cast<double>(schedule.jobs.size()) +
         8 * schedule.delay_max;
}

// Thirty waits for a worker that is on its way to what is on a disk, and what
// is read then.
absl::Duration GoingBack(const Schedule& schedule) {
  return 30 * schedule.lease / 10 + schedule.lease + absl::Seconds(1);
}

absl::Duration CompletionBound(const Schedule& schedule) {
  double rounds = 0;
  for (const JobShape& job : schedule.jobs) {
    rounds += static_cast<double>(job.samples) / (job.tau * job.batch_samples);
  }
  return 10 * schedule.lease +
         (LongestRound(schedule) + absl::Milliseconds(500)) *
             (kCompletionRounds + rounds);
}

// Whether every process runs, and no seat waits for a life, within the bound
// from calm on.
void CheckLiveness(World& world, const Schedule& schedule, RunResult& result,
                   Violations& violations) {
  Instant calm{schedule.calm_at};
  for (const JobShape& job : schedule.jobs) {
    calm = std::max(calm, Instant(job.submitted_at));
  }
  world.RunUntil(calm);
  const uint64_t before = world.committed();
  const Instant resumed = calm + ResumeBound(schedule);
  while (!world.AllJobsEnded() && world.committed() == before &&
         world.timeline.next() <= resumed) {
    world.timeline.RunNext();
  }
  // Jobs that had ended before have nothing to resume.
  result.resumed_after =
      std::max(world.timeline.now() - calm, absl::ZeroDuration());
  if (!world.AllJobsEnded() && world.committed() == before) {
    violations.Add(absl::StrCat("liveness: no commit within ",
                                absl::FormatDuration(ResumeBound(schedule)),
                                " after calm\n", world.WorkersText()));
  }
  world.RunUntil(calm + 2 * ResumeBound(schedule));
  if (!world.AllJobsEnded() && !world.AllWorkersWell()) {
    violations.Add(absl::StrCat("liveness: not every worker is active ",
                                absl::FormatDuration(2 * ResumeBound(schedule)),
                                " after calm\n", world.WorkersText()));
  }
  const Instant end = calm + CompletionBound(schedule);
  while (!world.AllJobsEnded() && world.timeline.next() <= end &&
         world.timeline.count() < kEventsMax) {
    world.timeline.RunNext();
  }
  if (!world.AllJobsEnded()) {
    violations.Add(absl::StrCat(
        "liveness: the jobs have not ended ",
        absl::FormatDuration(world.timeline.now() - calm), " after calm, in ",
        world.timeline.count(), " events\n", world.WorkersText()));
  }
}

void EachJob(
    const World& world,
    const std::function<void(HostId, const worker::ServedJob&)>& look) {
  for (HostId host = 1; host < world.hosts(); ++host) {
    const WorkerNode* node = world.worker_node(host);
    if (node == nullptr || world.IsSpare(host)) continue;
    node->EachSeat([&](const SeatNode& seat) { look(host, seat.job()); });
  }
}

// Names the workers that have the last state of a job and keep it in memory, or
// not on the disk; empty when there are none. All jobs have ended.
std::string WhoDoesNotSleep(const World& world) {
  std::map<std::pair<JobId, FragmentId>, Sequence> last;
  EachJob(world, [&](HostId, const worker::ServedJob& job) {
    const protocol::JobFacts facts = job.Facts();
    for (const protocol::FragmentFacts& one : facts.fragments) {
      Sequence& newest = last[{facts.job, one.fragment}];
      newest = std::max(newest, one.applied);
    }
  });
  std::string who;
  EachJob(world, [&](HostId host, const worker::ServedJob& job) {
    const protocol::JobFacts facts = job.Facts();
    // One that lacks the last state is woken by orders that name somebody who
    // has it, and sleeps without it when nobody can give it.
    const bool has_state =
        std::all_of(facts.fragments.begin(), facts.fragments.end(),
                    [&](const protocol::FragmentFacts& one) {
                      return !one.anchor_hashes.empty() &&
                             one.applied == last[{facts.job, one.fragment}];
                    });
    if (!has_state) return;
    if (job.shell() != nullptr) {
      absl::StrAppend(&who, "worker ", host, " keeps job ", facts.job.value(),
                      " in memory; ");
    }
    for (const protocol::FragmentFacts& one : facts.fragments) {
      const Sequence newest = last[{facts.job, one.fragment}];
      const bool has_base = std::any_of(
          one.bases.begin(), one.bases.end(),
          [&](const protocol::HeldBase& base) {
            return base.sequence == newest && base.span_begin == one.span_begin;
          });
      if (has_base) continue;
      absl::StrAppend(&who, "worker ", host, " has no base ", newest.value(),
                      " of job ", facts.job.value(), " fragment ",
                      one.fragment.value(), ", and has applied ",
                      one.applied.value(), "; ");
    }
  });
  return who;
}

// After the end of all jobs every worker stores their last states and sleeps.
// Nothing is asked of runs that end among faults, and of those in which a
// worker may have a newer state of a history that is lost.
void CheckSleep(World& world, const Schedule& schedule,
                Violations& violations) {
  const bool may_be_lost = std::any_of(
      schedule.faults.begin(), schedule.faults.end(),
      [](const Fault& fault) { return fault.kind == FaultKind::kOldJournal; });
  if (may_be_lost || world.timeline.now() < Instant(schedule.calm_at)) return;
  const Instant end = world.timeline.now() + ResumeBound(schedule);
  std::string who = WhoDoesNotSleep(world);
  for (Instant now = world.timeline.now(); !who.empty() && now < end;
       now = now + schedule.lease / 10) {
    while (world.timeline.next() <= now) world.timeline.RunNext();
    who = WhoDoesNotSleep(world);
  }
  if (!who.empty()) {
    violations.Add(absl::StrCat("liveness: after the end of all jobs ", who));
  }
}

}  // namespace

absl::Duration ResumeBound(const Schedule& schedule) {
  const absl::Duration resume =
      2 * schedule.lease + LongestRound(schedule) + kStarting;
  return HasCheckpoints(schedule) ? resume + GoingBack(schedule) : resume;
}

RunResult Run(const Schedule& schedule, const RunOptions& options) {
  RunResult result;
  Violations violations;
  CheckerSet checkers(violations, schedule.seats_max);
  FaultyWorld world(schedule, checkers, options.history_lines);
  CheckLiveness(world, schedule, result, violations);
  result.took = world.timeline.now() - Instant();
  if (world.AllJobsEnded()) CheckSleep(world, schedule, violations);
  result.hash = world.history.hash();
  result.events = world.timeline.count();
  result.commits = world.committed();
  result.violations = violations.first();
  result.lines.assign(world.history.lines().begin(),
                      world.history.lines().end());
  return result;
}

}  // namespace skerry::sim
