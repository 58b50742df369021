#include "coordinator/core/state/queue.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace skerry::coordinator {
namespace {

bool MayUse(const job::JobSpec& spec, std::string_view island) {
  const auto& islands = spec.placement.islands;
  return islands.empty() ||
         std::find(islands.begin(), islands.end(), island) != islands.end();
}

// By priority, then in the order of submission.
bool GoesFirst(const QueuedJob& a, const QueuedJob& b) {
  return std::tuple(-a.spec->queue.priority, a.id) <
         std::tuple(-b.spec->queue.priority, b.id);
}

// Null: there is none.
const size_t* QuotaOf(const ClusterOptions& options, const std::string& owner) {
  auto it = options.quotas.find(owner);
  if (it == options.quotas.end()) it = options.quotas.find(kEveryOtherOwner);
  return it == options.quotas.end() ? nullptr : &it->second;
}

}  // namespace

bool QueuedJob::BegunOn(std::string_view island) const {
  return begun_on != nullptr && begun_on->contains(std::string(island));
}

size_t Turn::BeforeOn(std::string_view island) const {
  const auto it = before.find(std::string(island));
  return it == before.end() ? 0 : it->second;
}

JobQueue::JobQueue(std::vector<QueuedJob> jobs, const WorkerTable& workers,
                   const ClusterOptions& options)
    : options_(options) {
  for (const auto& [name, worker] : workers.all()) {
    const bool usable = !worker.left && !worker.Leaves() &&
                        worker.intent == WorkerIntent::kServe;
    usable_[worker.island] += usable ? 1 : 0;
  }
  std::sort(jobs.begin(), jobs.end(),
            [](const QueuedJob& a, const QueuedJob& b) {
              if (a.Begun() != b.Begun()) return a.Begun();
              return GoesFirst(a, b);
            });
  absl::btree_map<std::string_view, size_t> at_work;
  for (QueuedJob& job : jobs) {
    standings_.push_back({job, false, ""});
    Stand(standings_.back(), at_work);
  }
}

void JobQueue::Stand(Standing& standing,
                     absl::btree_map<std::string_view, size_t>& at_work) const {
  const job::JobSpec& spec = *standing.job.spec;
  const std::string& owner = spec.queue.owner;
  const size_t* quota = QuotaOf(options_, owner);
  if (!standing.job.Begun()) {
    if (quota != nullptr && at_work[owner] >= *quota) {
      standing.aside = true;
      standing.held = absl::StrCat("the quota of owner ", owner, " is ", *quota,
                                   " job(s) at a time, and ", at_work[owner],
                                   " come(s) first");
      return;
    }
    size_t usable = 0;
    for (const auto& [island, workers] : usable_) {
      if (MayUse(spec, island)) usable += workers;
    }
    standing.aside = usable < std::max<size_t>(1, spec.placement.workers_min);
    if (standing.aside) return;
  }
  ++at_work[owner];
}

Turn JobQueue::TurnOf(JobId job) const {
  Turn turn;
  const Standing* found = nullptr;
  for (const Standing& one : standings_) {
    if (one.job.waits) ++turn.length;
    if (one.job.id != job) continue;
    found = &one;
    turn.position = one.job.waits ? turn.length : 0;
  }
  if (found == nullptr) return turn;
  turn.held = found->held;
  for (const auto& [island, workers] : usable_) {
    const size_t before = CountBefore(*found, island);
    if (before > 0) turn.before.emplace(island, before);
  }
  return turn;
}

size_t JobQueue::CountBefore(const Standing& one,
                             std::string_view island) const {
  if (one.job.BegunOn(island)) return 0;
  size_t before = 0;
  for (const Standing& other : standings_) {
    if (other.job.id == one.job.id || other.aside ||
        !MayUse(*other.job.spec, island)) {
      continue;
    }
    const bool first =
        other.job.BegunOn(island) || GoesFirst(other.job, one.job);
    before += first ? 1 : 0;
  }
  return before;
}

}  // namespace skerry::coordinator
