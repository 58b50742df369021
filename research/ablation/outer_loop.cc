#include "research/ablation/outer_loop.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "research/stateful/error_feedback.h"

namespace skerry::compression {
namespace {

constexpr double kRate = 3e-3;
constexpr float kBeta1 = 0.9f;
constexpr float kBeta2 = 0.999f;
constexpr float kEpsilon = 1e-8f;
constexpr size_t kCount = ToyModel::kParameters;

}  // namespace

ToyWorker::ToyWorker(std::vector<float> parameters)
    : live_(std::move(parameters)),
      m_(kCount, 0.0f),
      v_(kCount, 0.0f),
      gradient_(kCount) {}

void ToyWorker::Step(const ToyModel& model, int number, uint64_t step,
                     uint64_t steps) {
  model.Gradient(live_, static_cast<uint64_t>(number), step, gradient_);
  const auto rate = static_cast<float>(kRate * CosineSchedule(step, steps));
  const auto done = static_cast<double>(step + 1);
  const auto fix1 = static_cast<float>(1 - std::pow(kBeta1, done));
  const auto fix2 = static_cast<float>(1 - std::pow(kBeta2, done));
  for (size_t i = 0; i < kCount; ++i) {
    const float g = gradient_[i];
    m_[i] = kBeta1 * m_[i] + (1 - kBeta1) * g;
    v_[i] = kBeta2 * v_[i] + (1 - kBeta2) * g * g;
    live_[i] -= rate * (m_[i] / fix1) / (std::sqrt(v_[i] / fix2) + kEpsilon);
  }
}

void ToyOuterStep(const OuterRule& rule, std::span<const float> sum,
                  std::span<float> anchor, std::span<float> momentum) {
  for (size_t i = 0; i < sum.size(); ++i) {
    const float mean = sum[i] / kToyWorkers;
    momentum[i] = rule.momentum * momentum[i] + mean;
    anchor[i] -= rule.rate * (mean + rule.momentum * momentum[i]);
  }
}

std::vector<float> TrainInRounds(const ToyModel& model, const OuterLoop& loop) {
  std::vector<float> anchor = model.FirstParameters();
  std::vector<float> momentum(kCount, 0.0f), delta(kCount);
  std::vector<ToyWorker> workers(kToyWorkers, ToyWorker(anchor));
  std::vector<ErrorFeedback> feedback(
      kToyWorkers, ErrorFeedback(kCount, loop.feed_back ? loop.beta : 0.0f));
  std::vector<std::byte> payload;
  for (uint64_t step = 0; step < loop.steps; step += loop.inner_steps) {
    std::vector<float> sum(kCount, 0.0f);
    const bool quiet =
        step + loop.quiet_rounds * loop.inner_steps >= loop.steps;
    const Codec& codec = quiet ? **FindCodec(CodecId::kRawF32) : *loop.codec;
    for (int n = 0; n < kToyWorkers; ++n) {
      ToyWorker& worker = workers[n];
      worker.live() = anchor;
      for (uint64_t inner = step; inner < step + loop.inner_steps; ++inner) {
        worker.Step(model, n, inner, loop.steps);
      }
      for (size_t i = 0; i < kCount; ++i) {
        delta[i] = anchor[i] - worker.live()[i];
      }
      SKERRY_CHECK(feedback[n].Encode(codec, delta, payload).ok());
      SKERRY_CHECK(codec.DecodeAdd(payload, sum).ok());
    }
    ToyOuterStep(loop.rule, sum, anchor, momentum);
  }
  return anchor;
}

std::shared_ptr<const Codec> Dense(CodecId id) {
  return std::shared_ptr<const Codec>(std::shared_ptr<const Codec>(),
                                      *FindCodec(id));
}

}  // namespace skerry::compression
