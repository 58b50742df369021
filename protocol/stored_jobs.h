// protocol/stored_jobs.h
//
// Defines the jobs' folders on a worker's disk.
#ifndef SKERRY_PROTOCOL_STORED_JOBS_H_
#define SKERRY_PROTOCOL_STORED_JOBS_H_

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/time/time.h"
#include "base/ids.h"

namespace skerry::protocol {

// A job's folder on a worker's disk. Two coordinators may have given two jobs
// the same number; the uid tells them apart.
struct StoredJobKey {
  JobId job;
  uint64_t uid = 0;
  friend auto operator<=>(const StoredJobKey&, const StoredJobKey&) = default;
};

using StoredKeys = std::span<const StoredJobKey>;

struct StoredJob {
  StoredJobKey key;
  uint64_t bytes = 0;
  int64_t ended_unix_ms = 0;  // by the worker's clock; 0: it has not ended
  friend bool operator==(const StoredJob&, const StoredJob&) = default;
};

// What a worker's disk has of jobs, and what it keeps of those that have ended.
struct StoredJobs {
  std::vector<StoredJob> all;
  absl::Duration keep_ended;
  uint64_t keep_ended_bytes = 0;
  friend bool operator==(const StoredJobs&, const StoredJobs&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_STORED_JOBS_H_
