// worker/core/job_settings.h
//
// Holds what a worker needs of a job's description.
#ifndef SKERRY_WORKER_CORE_JOB_SETTINGS_H_
#define SKERRY_WORKER_CORE_JOB_SETTINGS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "compression/codec.h"
#include "job/job_spec.h"
#include "optimizer/outer/outer.h"
#include "protocol/job_orders.h"

namespace skerry::worker {

// What a worker needs of the job's description; the same for all workers.
struct JobSettings {
  optimizer::OuterOptions outer;
  double beta = 0;  // error-feedback factor in [0, 1]
  uint64_t samples = 0;
  uint32_t batch_samples = 1;  // of one worker in one inner step
  uint32_t tau = 1;
  // The codec with the largest frames that a member may use, for results too.
  // An attempt says which codec is used.
  compression::CodecId codec = compression::CodecId::kInt8Block;
  uint32_t spans = 64;     // of a fragment
  uint32_t fragments = 1;  // tau is a multiple of it
  // Whether the state that the job starts from, or has gone back to, is that of
  // a checkpoint, of which the worker has made a base, and not the trainer's
  // initial values.
  bool from_checkpoint = false;
  uint64_t samples_before = 0;  // that state 0 has taken in
  // By fragment, the sequence whose state is the trainer's initial values.
  // Empty: 0. Set after the job has gone back to them.
  std::vector<Sequence> begins_at = {};
  // A program of the user's trains. Its initial values may differ from one
  // trainer to the next, so those of the first are the job's.
  bool program = false;
  // States at multiples of this are stored as bases, so that they can be saved.
  // 0: none are.
  uint64_t checkpoint_every = 0;
  friend bool operator==(const JobSettings&, const JobSettings&) = default;
};

// Defaults are filled in. Errors: InvalidArgument names the field.
absl::StatusOr<JobSettings> JobSettingsOf(const job::JobSpec& spec);
// The same with the state that the job has gone back to.
absl::StatusOr<JobSettings> JobSettingsOf(const protocol::JobOrders& orders);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_JOB_SETTINGS_H_
