// trainer/attach/testing/attached_job.h
//
// Starts the quadratic training program of this folder as a trainer.
#ifndef SKERRY_TRAINER_ATTACH_TESTING_ATTACHED_JOB_H_
#define SKERRY_TRAINER_ATTACH_TESTING_ATTACHED_JOB_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "proto/skerry/v1/job.pb.h"
#include "trainer/attach/service/attached_trainer.h"
#include "trainer/core/trainer.h"

namespace skerry::trainer::attach {

// The program's file, from the root of the checkout.
inline constexpr char kQuadraticProgram[] =
    "trainer/attach/testing/quadratic_rank.py";

// A job of that program; `parameters` is a JSON object or empty.
v1::JobSpec QuadraticJob(const std::string& parameters = "");

// Options with a log folder of their own and short times.
AttachOptions QuadraticOptions(int ranks);

// The trainer of the job with a memory of its own. Snapshot and Load may then
// be given any `state`, as those of other trainers.
absl::StatusOr<std::unique_ptr<Trainer>> StartWithMemory(
    const AttachOptions& options, const v1::JobSpec& job);

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_TESTING_ATTACHED_JOB_H_
