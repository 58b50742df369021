// coordinator/core/log/job_log.h
//
// Lists what the journal has said of a job, but for the parts that have a fold
// of their own: replicas, samples, fragments, audit and coverage. The state of
// a job has it, and a snapshot saves it as it is. A durable field of a job is
// written here, in snapshot.proto with its conversion, in the hash of the state
// (job_snapshot.cc) and where it acts.
#ifndef SKERRY_COORDINATOR_CORE_LOG_JOB_LOG_H_
#define SKERRY_COORDINATOR_CORE_LOG_JOB_LOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "base/ids.h"
#include "coordinator/core/log/records.h"
#include "protocol/job_phase.h"
#include "protocol/seat_counters.h"

namespace skerry::coordinator {

struct JobLog {
  JobPhase phase = JobPhase::kPending;
  std::string end_reason;
  bool paused = false;
  uint64_t element_count = 0;
  uint64_t average_begin = 0;  // as in JobSized
  uint64_t epoch_samples = 0;
  double flops_per_sample = 0;
  // Unset while it is not known; 0 when the job is not evaluated.
  std::optional<uint64_t> validation_samples;
  // Hashes of the values that the job began with, and of the order and shapes
  // of the first trainer's tensors; 0 where they are not known.
  uint64_t initial_hash = 0;
  uint64_t layout_hash = 0;
  // SHA-256 of the first trainer's program; empty where none is known.
  std::string program_sha256;
  Epoch epoch;
  absl::btree_map<Sequence, Evaluated> evaluations;
  // The checkpoints that are kept, by sequence.
  std::vector<Checkpointed> checkpoints;
  // The newest save, if it failed.
  std::optional<Checkpointed> save_failure;
  // The newest time that the job went back.
  std::optional<Restored> restored;
  // Workers have a history that the journal does not have: the job stands.
  std::optional<Diverged> diverged;
  // The record by which an operator last kept what workers hold. Results of
  // older attempts may be of the lost history, and nobody needs those.
  Revision adopted_at;
  // That record itself. Unset after a snapshot of a release that left it out.
  std::optional<Adopted> adopted;
  // By worker, the counters in its last Counted record, and what the counts of
  // all workers have added up to.
  absl::btree_map<std::string, SeatCounters> counted;
  SeatCounters totals;

  friend bool operator==(const JobLog&, const JobLog&) = default;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_LOG_JOB_LOG_H_
