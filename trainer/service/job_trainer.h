// trainer/service/job_trainer.h
//
// A job's trainer with the files it reads from.
#ifndef SKERRY_TRAINER_SERVICE_JOB_TRAINER_H_
#define SKERRY_TRAINER_SERVICE_JOB_TRAINER_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/skerry/v1/job.pb.h"
#include "runtime/posix/mapped_file.h"
#include "trainer/core/trainer.h"
#include "trainer/service/shard_check.h"

namespace skerry::trainer {

struct JobTrainer {
  // Outlive the trainer: members are destroyed last first.
  std::vector<std::shared_ptr<const runtime::MappedFile>> files;
  std::unique_ptr<Trainer> trainer;
};

// Makes the trainer of a job. It asks `stop` whenever a piece of the work is
// done, and may end with Aborted when the answer is true.
using JobTrainerMaker = std::function<absl::StatusOr<JobTrainer>(
    const v1::JobSpec& job, ShardCheck check, StopRequested stop)>;

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_SERVICE_JOB_TRAINER_H_
