#include "coordinator/core/rules/job_workers.h"

#include <string>
#include <string_view>

#include "absl/algorithm/container.h"
#include "absl/container/btree_set.h"

namespace skerry::coordinator {

std::vector<std::string> NamedWorkersOf(const JobState& job,
                                        const WorkerTable& workers,
                                        const ClusterOptions& options) {
  const size_t most = options.job_workers_named_max;
  if (job.seats.size() > most) return {};
  absl::btree_set<std::string_view> names;
  for (const auto& [name, seat] : job.seats) names.insert(name);
  for (const auto& [island, place] : job.places) {
    names.insert(place.workers.begin(), place.workers.end());
    if (names.size() > most) return {};
  }
  for (const auto& [life, replica] : job.replicas.current()) {
    for (const SpanHolder& holder : replica.holders) {
      names.insert(holder.peer.worker);
    }
    if (names.size() > most) return {};
  }
  std::vector<std::string> named;
  for (const std::string_view name : names) {
    if (workers.FindCurrent(name) != nullptr) named.emplace_back(name);
  }
  return named;
}

bool IsNamedUnheard(const JobState& job, std::string_view worker) {
  return job.replicas.FindWorker(worker) != nullptr ||
         absl::c_any_of(job.places, [&](const auto& one) {
           return absl::c_linear_search(one.second.workers, worker);
         });
}

void TellWorkers(JobState& job, const ClusterOptions& options) {
  if (job.seats.size() > options.job_workers_named_max) return;
  for (const auto& [name, seat] : job.seats) job.touched.insert(name);
}

}  // namespace skerry::coordinator
