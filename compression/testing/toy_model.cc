#include "compression/testing/toy_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/random.h"

namespace skerry::compression {
namespace {

constexpr size_t kClusters = 32;
constexpr size_t kTrainSamples = 16384;
constexpr size_t kTestSamples = 4096;
// The deviation of samples from their cluster's center in each input. Centers
// are drawn with deviation 1.
constexpr double kNoise = 1.3;
constexpr uint64_t kDataSeed = 1;

constexpr size_t kInputs = ToyModel::kInputs;
constexpr size_t kHidden = ToyModel::kHidden;
constexpr size_t kClasses = ToyModel::kClasses;

double Normal(Random& random) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - random.Uniform()));
  return radius * std::cos(2.0 * M_PI * random.Uniform());
}

// Parameters in one array: weights by input, then biases, of either layer.
constexpr size_t kBias1 = kInputs * kHidden;
constexpr size_t kWeights2 = kBias1 + kHidden;
constexpr size_t kBias2 = kWeights2 + kHidden * kClasses;
static_assert(kBias2 + kClasses == ToyModel::kParameters);

struct Activations {
  std::array<float, kHidden> hidden;
  std::array<float, kClasses> shares;  // softmax
};

// The cross-entropy of one sample.
double Forward(const float* __restrict w, const float* __restrict input,
               int wanted, Activations& out) {
  float* __restrict hidden = out.hidden.data();
  for (size_t j = 0; j < kHidden; ++j) hidden[j] = w[kBias1 + j];
  for (size_t i = 0; i < kInputs; ++i) {
    const float x = input[i];
    const float* __restrict row = w + i * kHidden;
    for (size_t j = 0; j < kHidden; ++j) hidden[j] += x * row[j];
  }
  for (size_t j = 0; j < kHidden; ++j) hidden[j] = std::max(hidden[j], 0.0f);
  std::array<float, kClasses> logits;
  for (size_t c = 0; c < kClasses; ++c) logits[c] = w[kBias2 + c];
  for (size_t j = 0; j < kHidden; ++j) {
    for (size_t c = 0; c < kClasses; ++c) {
      logits[c] += hidden[j] * w[kWeights2 + j * kClasses + c];
    }
  }
  const float largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (size_t c = 0; c < kClasses; ++c) {
    out.shares[c] = std::exp(logits[c] - largest);
    sum += out.shares[c];
  }
  for (float& share : out.shares) share /= static_cast<float>(sum);
  return std::log(sum) - (logits[static_cast<size_t>(wanted)] - largest);
}

// Adds one sample's gradient times `scale`.
void Backward(const float* __restrict w, const float* __restrict input,
              int wanted, const Activations& at, float scale,
              float* __restrict gradient) {
  std::array<float, kClasses> error;
  for (size_t c = 0; c < kClasses; ++c) {
    const bool right = static_cast<int>(c) == wanted;
    error[c] = scale * (at.shares[c] - (right ? 1.0f : 0.0f));
    gradient[kBias2 + c] += error[c];
  }
  std::array<float, kHidden> hidden_error;
  for (size_t j = 0; j < kHidden; ++j) {
    float sum = 0.0f;
    for (size_t c = 0; c < kClasses; ++c) {
      gradient[kWeights2 + j * kClasses + c] += error[c] * at.hidden[j];
      sum += error[c] * w[kWeights2 + j * kClasses + c];
    }
    hidden_error[j] = at.hidden[j] > 0.0f ? sum : 0.0f;
  }
  const float* __restrict back = hidden_error.data();
  for (size_t j = 0; j < kHidden; ++j) gradient[kBias1 + j] += back[j];
  for (size_t i = 0; i < kInputs; ++i) {
    const float x = input[i];
    float* __restrict row = gradient + i * kHidden;
    for (size_t j = 0; j < kHidden; ++j) row[j] += x * back[j];
  }
}

}  // namespace

ToyModel::ToyModel(uint64_t seed) : seed_(seed) {
  Random random(kDataSeed);
  centers_.resize(kClusters * kInputs);
  for (float& value : centers_) value = static_cast<float>(Normal(random));
  train_ = Draw(kTrainSamples, 1);
  test_ = Draw(kTestSamples, 2);
}

ToyModel::Samples ToyModel::Draw(size_t count, uint64_t stream) const {
  Random random(RandomAt(kDataSeed, stream));
  Samples samples;
  samples.inputs.reserve(count * kInputs);
  for (size_t n = 0; n < count; ++n) {
    const size_t cluster = random.Below(kClusters);
    samples.classes.push_back(static_cast<int>(cluster % kClasses));
    for (size_t i = 0; i < kInputs; ++i) {
      samples.inputs.push_back(centers_[cluster * kInputs + i] +
                               static_cast<float>(kNoise * Normal(random)));
    }
  }
  return samples;
}

std::vector<float> ToyModel::FirstParameters() const {
  Random random(RandomAt(seed_, 3));
  std::vector<float> w(kParameters, 0.0f);
  for (size_t i = 0; i < kBias1; ++i) {
    w[i] = static_cast<float>(Normal(random) * std::sqrt(2.0 / kInputs));
  }
  for (size_t i = kWeights2; i < kBias2; ++i) {
    w[i] = static_cast<float>(Normal(random) * std::sqrt(1.0 / kHidden));
  }
  return w;
}

void ToyModel::Gradient(std::span<const float> parameters, uint64_t worker,
                        uint64_t step, std::span<float> gradient) const {
  SKERRY_CHECK(parameters.size() == kParameters);
  SKERRY_CHECK(gradient.size() == kParameters);
  std::fill(gradient.begin(), gradient.end(), 0.0f);
  Random random(RandomAt(RandomAt(seed_, 4 + worker), step));
  Activations at;
  for (size_t n = 0; n < kBatch; ++n) {
    const size_t sample = random.Below(kTrainSamples);
    const float* input = train_.inputs.data() + sample * kInputs;
    Forward(parameters.data(), input, train_.classes[sample], at);
    Backward(parameters.data(), input, train_.classes[sample], at,
             1.0f / kBatch, gradient.data());
  }
}

double ToyModel::Loss(std::span<const float> parameters,
                      const Samples& samples) {
  SKERRY_CHECK(parameters.size() == kParameters);
  const size_t count = samples.classes.size();
  double sum = 0.0;
  Activations at;
  for (size_t n = 0; n < count; ++n) {
    sum += Forward(parameters.data(), samples.inputs.data() + n * kInputs,
                   samples.classes[n], at);
  }
  return sum / static_cast<double>(count);
}

double ToyModel::TestLoss(std::span<const float> parameters) const {
  return Loss(parameters, test_);
}

double ToyModel::TrainLoss(std::span<const float> parameters) const {
  return Loss(parameters, train_);
}

Spread SpreadOf(std::span<const double> results) {
  SKERRY_CHECK(!results.empty());
  const auto count = static_cast<double>(results.size());
  Spread spread;
  for (const double result : results) spread.mean += result / count;
  double squares = 0.0;
  for (const double result : results) {
    squares += (result - spread.mean) * (result - spread.mean);
  }
  spread.deviation = std::sqrt(squares / std::max(count - 1.0, 1.0));
  return spread;
}

double CosineSchedule(uint64_t step, uint64_t steps) {
  return 0.5 * (1.0 + std::cos(M_PI * static_cast<double>(step) /
                               static_cast<double>(steps)));
}

}  // namespace skerry::compression
