#include "coordinator/core/views/model_place.h"

#include <algorithm>
#include <string>

#include "absl/container/btree_set.h"
#include "coordinator/core/rules/state_view.h"

namespace skerry::coordinator {
namespace {

// How much longer the worker keeps the job, by its own clock and retention. A
// worker that has not heard of the end yet counts from now.
absl::Duration KeptBy(const Worker& worker, const StoredJobKey& key) {
  for (const protocol::StoredJob& stored : worker.stored.all) {
    if (stored.key != key || stored.ended_unix_ms == 0) continue;
    const auto since = absl::Milliseconds(worker.machine.unix_ms) -
                       absl::Milliseconds(stored.ended_unix_ms);
    return std::max(worker.stored.keep_ended - since, absl::ZeroDuration());
  }
  return worker.stored.keep_ended;
}

}  // namespace

ModelPlace PlaceOfModel(const JobState& job, const WorkerTable& workers) {
  ModelPlace place;
  const auto state = LocateState(job, workers);
  if (!state.ok() || state->pieces.empty()) return place;
  place.sequence = state->sequence;
  const StoredJobKey key{job.id, UidOf(job)};
  absl::btree_set<std::string> names;
  place.kept = absl::InfiniteDuration();
  place.keep_ended_bytes = ~uint64_t{0};
  // A span is there for as long as its last holder keeps it.
  for (const StatePiece& piece : state->pieces) {
    absl::Duration kept;
    for (const std::string& name : piece.workers) {
      const Worker* worker = workers.FindCurrent(name);
      if (worker == nullptr) continue;
      names.insert(name);
      kept = std::max(kept, KeptBy(*worker, key));
      place.keep_ended_bytes =
          std::min(place.keep_ended_bytes, worker->stored.keep_ended_bytes);
    }
    place.kept = std::min(place.kept, kept);
  }
  place.workers.assign(names.begin(), names.end());
  return place;
}

}  // namespace skerry::coordinator
