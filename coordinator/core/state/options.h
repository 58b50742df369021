// coordinator/core/state/options.h
//
// Defines the timers and bounds of the coordinator (PROTOCOL 7).
#ifndef SKERRY_COORDINATOR_CORE_STATE_OPTIONS_H_
#define SKERRY_COORDINATOR_CORE_STATE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace skerry::coordinator {

// Stands in `quotas` for all owners that have no quota of their own; each of
// them has this many for itself.
inline constexpr char kEveryOtherOwner[] = "*";

struct ClusterOptions {
  // Silence that ends a worker's incarnation.
  absl::Duration lease = absl::Seconds(10);
  // How long an island that lost a worker waits for it to come back before the
  // others go on without it.
  absl::Duration settle = absl::Seconds(2);
  // What a member of the open attempt has to come back after its stream broke.
  absl::Duration reconnect_allowance = absl::Milliseconds(150);
  // How long a joiner that is ready waits for a moment without a pending
  // contribution.
  absl::Duration takeover_wait = absl::Seconds(20);
  // Shortest deadline of an attempt.
  absl::Duration attempt_deadline_min = absl::Seconds(1);
  // How long the final evaluation may take before the job succeeds without.
  absl::Duration final_evaluation_max = absl::Minutes(15);
  // How long a worker may take to save a checkpoint before another one is
  // asked.
  absl::Duration checkpoint_max = absl::Minutes(30);
  // How long a disk with spans that are nowhere else has to come back, once
  // there are workers that wait for them.
  absl::Duration restore_wait = absl::Seconds(10);

  size_t workers_max = 10'000;
  // Unfinished jobs, and finished ones that are remembered.
  size_t jobs_max = 256;
  size_t finished_jobs_max = 256;
  // Jobs of which only the number, the uid and whether they were deleted are
  // left. Workers hear which folders of these they may remove.
  size_t gone_jobs_max = 100'000;
  // Unfinished jobs that share one worker.
  size_t seats_max = 4;
  // How many jobs of an owner may have workers at a time. An owner without a
  // quota may have any number.
  absl::btree_map<std::string, size_t> quotas;
  // Replaced boots that are remembered for each worker.
  size_t boots_max = 1024;
  size_t ready_ranges_max = 1024;
  size_t committed_entries_max = 256;
  size_t sources_max = 16;
  // Workers of one job that its orders name (job_workers.h). Orders of a larger
  // job name none, because every worker would be told of every other. With
  // 1,000 names that took almost half of the core's time for a commit.
  size_t job_workers_named_max = 256;
  size_t generate_max = 64;
  // Replicas in one exchange; others are carried to the next.
  size_t members_max = 64;
  // A pin this far behind the newest sequence no longer keeps results.
  uint64_t pin_sequences_max = 256;
};

// Errors: InvalidArgument, naming the option.
absl::Status ValidateClusterOptions(const ClusterOptions& options);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_OPTIONS_H_
