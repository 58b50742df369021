// trainer/convert/training_options.h
//
// Converts what a job's message says about training. job/ knows the defaults
// and the bounds.
#ifndef SKERRY_TRAINER_CONVERT_TRAINING_OPTIONS_H_
#define SKERRY_TRAINER_CONVERT_TRAINING_OPTIONS_H_

#include "absl/status/statusor.h"
#include "proto/skerry/v1/job.pb.h"
#include "trainer/core/training_options.h"

namespace skerry::trainer {

// Any message may be given. Errors: InvalidArgument that names the field.
absl::StatusOr<TrainingOptions> TrainingOptionsFromProto(
    const v1::JobSpec& job);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CONVERT_TRAINING_OPTIONS_H_
