// trainer/testing/quadratic_trainer.h
//
// A trainer whose model is a point that moves towards the middle of noisy
// targets. Everything behaves as with a language model, at the cost of a few
// additions.
#ifndef SKERRY_TRAINER_TESTING_QUADRATIC_TRAINER_H_
#define SKERRY_TRAINER_TESTING_QUADRATIC_TRAINER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/core/trainer.h"

namespace skerry::trainer {

struct QuadraticOptions {
  uint64_t elements = 64;
  uint64_t seed = 0;
  double learning_rate = 0.1;
  // Standard deviation of a sample's target about the middle.
  double noise = 0.1;
  uint64_t epoch_samples = 1000;
  uint64_t validation_samples = 100;
};

// Sample p pulls towards target(p) = middle + noise; its loss is half the mean
// squared distance. Steps are plain gradient descent. Generate repeats the
// prompt's last byte.
class QuadraticTrainer final : public Trainer {
 public:
  explicit QuadraticTrainer(const QuadraticOptions& options);

  const Description& description() const override { return description_; }
  absl::StatusOr<RunResult> Run(const RunRequest& request,
                                StopRequested stop) override;
  absl::Status Snapshot(std::span<const ElementRange> ranges,
                        std::span<float> state) override;
  absl::Status Load(std::span<const ElementRange> ranges,
                    std::span<const RankRange> owners,
                    std::span<const float> state) override;
  absl::Status JoinGroup(Collective* island) override;
  absl::StatusOr<EvaluateResult> Evaluate(uint64_t samples_max,
                                          StopRequested stop) override;
  absl::StatusOr<std::string> Generate(const GenerateRequest& request,
                                       StopRequested stop) override;

  // What the point looks for.
  double Middle(uint64_t element) const;

 private:
  int rank() const { return island_ == nullptr ? 0 : island_->rank(); }
  int size() const { return island_ == nullptr ? 1 : island_->size(); }
  double Target(uint64_t position, uint64_t element) const;
  // Half the mean squared distance to the sample's target; adds
  // weight * (x - target) to `gradient` when it is not empty.
  double Pull(uint64_t position, double weight,
              std::span<float> gradient) const;
  absl::Status Step(std::span<const uint64_t> positions, RunResult& result);

  const QuadraticOptions options_;
  Description description_;
  std::vector<float> point_;
  Collective* island_ = nullptr;
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_TESTING_QUADRATIC_TRAINER_H_
