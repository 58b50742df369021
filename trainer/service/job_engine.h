// trainer/service/job_engine.h
//
// Skerry's own engine as a job's trainer.
#ifndef SKERRY_TRAINER_SERVICE_JOB_ENGINE_H_
#define SKERRY_TRAINER_SERVICE_JOB_ENGINE_H_

#include <functional>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "proto/skerry/v1/job.pb.h"
#include "trainer/service/job_trainer.h"
#include "trainer/service/shard_check.h"

namespace skerry::trainer {

// Opens the job's data, measures which GEMM library is fastest here, and
// builds the engine, which computes on `executor`. `on_piece` runs whenever a
// piece of that is done. Errors: those of the options, of OpenDataDirectory and
// of LanguageModelTrainer::Create.
absl::StatusOr<JobTrainer> MakeJobEngine(const v1::JobSpec& job,
                                         ShardCheck check,
                                         ParallelExecutor& executor,
                                         const std::function<void()>& on_piece);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_SERVICE_JOB_ENGINE_H_
