// trainer/core/step_plan.h
//
// Assigns the samples of a request to inner steps and to the trainers of the
// island.
#ifndef SKERRY_TRAINER_CORE_STEP_PLAN_H_
#define SKERRY_TRAINER_CORE_STEP_PLAN_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "trainer/core/trainer.h"

namespace skerry::trainer {

inline constexpr uint64_t kSamplesPerRunMax = uint64_t{1} << 32;
inline constexpr uint64_t kReplicaBatchMax = uint64_t{1} << 20;

// Errors: InvalidArgument for no samples, empty ranges, a batch of none, or
// more than the two bounds above.
absl::Status ValidateRunRequest(const RunRequest& request);

// The inner steps that a request asks for. Requires:
// ValidateRunRequest(request) is OK.
uint64_t StepCount(const RunRequest& request);

// Goes through the samples of a request step by step. The request outlives it.
class StepPlan {
 public:
  // Requires: ValidateRunRequest(request) is OK.
  explicit StepPlan(const RunRequest& request);

  // The positions of the next step, in order; empty when all are drawn.
  std::vector<uint64_t> Next();

 private:
  const RunRequest& request_;
  size_t range_ = 0;
  uint64_t inside_ = 0;
};

// The contiguous part of a step that `rank` of `size` computes; parts differ
// by one sample at most, and may be empty.
std::span<const uint64_t> RankPart(std::span<const uint64_t> positions,
                                   int rank, int size);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_STEP_PLAN_H_
