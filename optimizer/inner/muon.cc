#include "optimizer/inner/muon.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/status.h"

namespace skerry::optimizer {
namespace {

std::vector<Tensor> Those(std::span<const Tensor> tensors, bool matrices) {
  std::vector<Tensor> those;
  for (const Tensor& tensor : tensors) {
    if (tensor.is_hidden_matrix() == matrices) those.push_back(tensor);
  }
  return those;
}

size_t LargestElements(std::span<const Tensor> matrices) {
  size_t most = 0;
  for (const Tensor& m : matrices) most = std::max(most, m.range.size());
  return most;
}

size_t LargestShorterSide(std::span<const Tensor> matrices) {
  int most = 0;
  for (const Tensor& m : matrices) {
    most = std::max(most, std::min(m.rows, m.columns));
  }
  return static_cast<size_t>(most);
}

}  // namespace

absl::Status ValidateMuonOptions(const MuonOptions& options) {
  if (!(options.momentum >= 0 && options.momentum < 1)) {
    return absl::InvalidArgumentError(
        "Muon: momentum must be at least 0 and below 1");
  }
  return ValidateAdamWOptions(options.adamw);
}

Muon::Muon(const MuonOptions& options, std::span<const Tensor> tensors,
           const MatrixProducts& products)
    : options_(options),
      matrices_(Those(tensors, true)),
      rest_(options.adamw, Those(tensors, false)),
      momentum_(ElementCount(matrices_)),
      direction_(LargestElements(matrices_)),
      orthogonalizer_(LargestElements(matrices_), LargestShorterSide(matrices_),
                      products) {}

void Muon::Step(std::span<float> parameters, std::span<const float> gradients,
                float learning_rate, float gradient_scale,
                ParallelExecutor& executor) {
  rest_.Step(parameters, gradients, learning_rate, gradient_scale, executor);
  std::span<float> momentum = momentum_;
  for (const Tensor& matrix : matrices_) {
    const size_t count = matrix.range.size();
    StepMatrix(matrix, momentum.first(count),
               parameters.subspan(matrix.range.begin, count),
               gradients.subspan(matrix.range.begin, count), learning_rate,
               gradient_scale, executor);
    momentum = momentum.subspan(count);
  }
}

void Muon::StepMatrix(const Tensor& tensor, std::span<float> momentum,
                      std::span<float> parameters,
                      std::span<const float> gradients, float learning_rate,
                      float gradient_scale, ParallelExecutor& executor) {
  const float mu = options_.momentum;
  const std::span<float> direction =
      std::span<float>(direction_).first(momentum.size());
  for (size_t i = 0; i < momentum.size(); ++i) {
    const float g = (1 - mu) * gradient_scale * gradients[i];
    momentum[i] = mu * momentum[i] + g;
    direction[i] = options_.nesterov ? g + mu * momentum[i] : momentum[i];
  }
  orthogonalizer_.Run(direction, tensor.rows, tensor.columns, executor);
  const float keep = static_cast<float>(
      1 - double{learning_rate} *
              (tensor.decayed ? options_.adamw.weight_decay : 0.0f));
  const auto step = static_cast<float>(
      0.2 * std::sqrt(double(std::max(tensor.rows, tensor.columns))) *
      learning_rate);
  for (size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] = keep * parameters[i] - step * direction[i];
  }
}

std::vector<StateSlot> Muon::state() {
  std::vector<StateSlot> all = rest_.state();
  all.insert(all.begin(), {"momentum_buffer", momentum_, matrices_});
  return all;
}

}  // namespace skerry::optimizer
