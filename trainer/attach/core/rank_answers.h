// trainer/attach/core/rank_answers.h
//
// Makes one answer of what all ranks answered, and checks it: what a training
// program says is foreign. Every error is Internal and one line that says which
// rank is wrong in what.
#ifndef SKERRY_TRAINER_ATTACH_CORE_RANK_ANSWERS_H_
#define SKERRY_TRAINER_ATTACH_CORE_RANK_ANSWERS_H_

#include <span>

#include "absl/status/statusor.h"
#include "trainer/core/trainer.h"

namespace skerry::trainer::attach {

// `request` has passed ValidateRunRequest. Adds the samples up and weights the
// means by them. Norm, learning rate and skipped steps are those of rank 0.
// Metrics that are not finite are left out, and loss and metrics that no rank
// with samples has. Errors: the counts are not those that `request` asks for, a
// loss is not finite, or there are more metrics, or others, than
// proto/skerry/v1/trainer.proto allows.
absl::StatusOr<RunResult> MergeRuns(const RunRequest& request,
                                    std::span<const RunResult> ranks);

// Weights the losses by the samples. Errors: as above, or there are no samples.
absl::StatusOr<EvaluateResult> MergeEvaluations(
    std::span<const EvaluateResult> ranks);

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_CORE_RANK_ANSWERS_H_
