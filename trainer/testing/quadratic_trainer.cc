#include "trainer/testing/quadratic_trainer.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "base/random.h"
#include "base/status.h"
#include "trainer/core/element_ranges.h"
#include "trainer/core/step_plan.h"

namespace skerry::trainer {
namespace {

double UniformAt(uint64_t key, uint64_t counter) {
  return static_cast<double>(RandomAt(key, counter) >> 11) * 0x1.0p-53;
}

}  // namespace

QuadraticTrainer::QuadraticTrainer(const QuadraticOptions& options)
    : options_(options), point_(options.elements, 0.f) {
  for (uint64_t i = 0; i < options_.elements; ++i) {
    point_[i] = static_cast<float>(2 * UniformAt(options_.seed + 1, i) - 1);
  }
  description_ = {
      .element_count = options_.elements,
      .epoch_samples = options_.epoch_samples,
      .validation_samples = options_.validation_samples,
      .flops_per_sample = 4.0 * static_cast<double>(options_.elements),
      .initial_hash = Hash64Of(std::span<const float>(point_)),
      .capabilities = {.evaluates = true, .generates = true, .groups = true},
      .export_files = {},
      .tensors = {}};
}

double QuadraticTrainer::Middle(uint64_t element) const {
  return 4 * UniformAt(options_.seed + 2, element) - 2;
}

double QuadraticTrainer::Target(uint64_t position, uint64_t element) const {
  // Uniform noise of the wanted standard deviation.
  const uint64_t key = options_.seed + 3 + position % options_.epoch_samples;
  return Middle(element) +
         options_.noise * std::sqrt(12.0) * (UniformAt(key, element) - 0.5);
}

double QuadraticTrainer::Pull(uint64_t position, double weight,
                              std::span<float> gradient) const {
  double sum = 0;
  for (uint64_t i = 0; i < point_.size(); ++i) {
    const double distance = point_[i] - Target(position, i);
    sum += distance * distance;
    if (!gradient.empty()) gradient[i] += static_cast<float>(weight * distance);
  }
  return sum / 2 / static_cast<double>(point_.size());
}

absl::StatusOr<RunResult> QuadraticTrainer::Run(const RunRequest& request,
                                                StopRequested stop) {
  SKERRY_RETURN_IF_ERROR(ValidateRunRequest(request));
  StepPlan plan(request);
  RunResult result;
  for (std::vector<uint64_t> positions = plan.Next(); !positions.empty();
       positions = plan.Next()) {
    if (stop()) return absl::AbortedError("the trainer was paused");
    SKERRY_RETURN_IF_ERROR(Step(positions, result));
  }
  result.loss /= static_cast<double>(result.samples);
  return result;
}

absl::Status QuadraticTrainer::Step(std::span<const uint64_t> positions,
                                    RunResult& result) {
  // The loss goes through the island's sum with the gradient.
  std::vector<float> sums(point_.size() + 1, 0.f);
  const std::span<float> gradient = std::span<float>(sums).first(point_.size());
  const double weight = 1.0 / static_cast<double>(positions.size());
  double loss = 0;
  for (const uint64_t position : RankPart(positions, rank(), size())) {
    loss += weight * Pull(position, weight, gradient);
  }
  sums.back() = static_cast<float>(loss);
  if (size() > 1) SKERRY_RETURN_IF_ERROR(island_->AllReduceSum(sums));
  double squared_norm = 0;
  for (size_t i = 0; i < point_.size(); ++i) {
    squared_norm += static_cast<double>(sums[i]) * sums[i];
    point_[i] -= static_cast<float>(options_.learning_rate * sums[i]);
  }
  result.samples += positions.size();
  result.inner_steps += 1;
  result.loss +=
      static_cast<double>(sums.back()) * static_cast<double>(positions.size());
  result.gradient_norm = std::sqrt(squared_norm);
  result.learning_rate = options_.learning_rate;
  StepDone();
  return absl::OkStatus();
}

absl::Status QuadraticTrainer::Snapshot(std::span<const ElementRange> ranges,
                                        std::span<float> state) {
  return CopyRanges(ranges, point_, state);
}

absl::Status QuadraticTrainer::Load(std::span<const ElementRange> ranges,
                                    std::span<const RankRange> owners,
                                    std::span<const float> state) {
  if (size() > 1 || !owners.empty()) {
    SKERRY_RETURN_IF_ERROR(
        ValidateOwners(owners, ranges, point_.size(), rank(), size()));
  }
  SKERRY_RETURN_IF_ERROR(CopyRanges(ranges, state, point_));
  if (size() == 1) return absl::OkStatus();
  return ShareOwned(owners, *island_, point_);
}

absl::Status QuadraticTrainer::JoinGroup(Collective* island) {
  island_ = island;
  return absl::OkStatus();
}

absl::StatusOr<EvaluateResult> QuadraticTrainer::Evaluate(uint64_t samples_max,
                                                          StopRequested stop) {
  const uint64_t samples =
      samples_max == 0 ? options_.validation_samples
                       : std::min(samples_max, options_.validation_samples);
  double sum = 0;
  for (uint64_t i = 0; i < samples; ++i) {
    if (stop()) return absl::AbortedError("the trainer was paused");
    sum += Pull(i, 0, {});
  }
  return EvaluateResult{sum / static_cast<double>(samples), samples};
}

absl::StatusOr<std::string> QuadraticTrainer::Generate(
    const GenerateRequest& request, StopRequested stop) {
  return std::string(request.tokens,
                     request.prompt.empty() ? '\n' : request.prompt.back());
}

}  // namespace skerry::trainer
