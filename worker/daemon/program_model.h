// worker/daemon/program_model.h
//
// Reads what a trainer says of itself, and what a program's trainer says of its
// model: the tensors, and the files that belong beside them.
#ifndef SKERRY_WORKER_DAEMON_PROGRAM_MODEL_H_
#define SKERRY_WORKER_DAEMON_PROGRAM_MODEL_H_

#include "absl/status/statusor.h"
#include "checkpoint/model_files.h"
#include "proto/skerry/v1/trainer.pb.h"
#include "worker/core/seat.h"

namespace skerry::worker {

// A trainer that does not say what it can do, as Skerry's own, can do all.
TrainerDescription DescriptionOf(const v1::DescribeReply& reply);

// Any message may be given. Errors: InvalidArgument, for people: there is no
// tensor, the tensors do not follow one another or are not as many elements as
// the reply says, the files are too large, or those of
// checkpoint::ValidateTable.
absl::StatusOr<checkpoint::ProgramModel> ProgramModelOf(
    const v1::DescribeReply& reply);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_PROGRAM_MODEL_H_
