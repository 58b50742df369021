// trainer/service/job_trainer.h
//
// A job's trainer with the files it reads from.
#ifndef SKERRY_TRAINER_SERVICE_JOB_TRAINER_H_
#define SKERRY_TRAINER_SERVICE_JOB_TRAINER_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "proto/skerry/v1/job.pb.h"
#include "runtime/posix/mapped_file.h"
#include "trainer/core/trainer.h"
#include "trainer/service/data_directory.h"

namespace skerry::trainer {

struct JobTrainer {
  // Outlive the trainer: members are destroyed last first.
  std::vector<std::shared_ptr<const runtime::MappedFile>> files;
  std::unique_ptr<Trainer> trainer;
};

// Opens the job's data, measures which GEMM library is fastest here, and
// builds the engine, which computes on `executor`. `on_piece` runs whenever a
// piece of that is done. Errors: those of the options, of OpenDataDirectory and
// of LanguageModelTrainer::Create.
absl::StatusOr<JobTrainer> MakeJobTrainer(
    const v1::JobSpec& job, ShardCheck check, ParallelExecutor& executor,
    const std::function<void()>& on_piece);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_SERVICE_JOB_TRAINER_H_
