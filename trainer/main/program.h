// trainer/main/program.h
//
// The engine's process: flags and wiring around whatever makes the trainer.
#ifndef SKERRY_TRAINER_MAIN_PROGRAM_H_
#define SKERRY_TRAINER_MAIN_PROGRAM_H_

#include <functional>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "proto/skerry/v1/job.pb.h"
#include "trainer/service/job_trainer.h"

namespace skerry::trainer {

// Makes a trainer for a job, with the arguments of MakeJobEngine.
using TrainerMaker = std::function<absl::StatusOr<JobTrainer>(
    const v1::JobSpec&, ShardCheck, ParallelExecutor&,
    const std::function<void()>& on_piece)>;

// Serves one worker until it is told to exit. Returns the exit code.
int RunProgram(int argc, char** argv, const TrainerMaker& make);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_MAIN_PROGRAM_H_
