#include "simulator/quadratic_model.h"

#include "base/hash.h"
#include "base/random.h"

namespace skerry::sim {
namespace {

constexpr float kRate = 0.2f;
constexpr double kNoise = 0.05;
constexpr float kStir = 0x1.0p-40f;

double Unit(uint64_t key, uint64_t counter) {
  return static_cast<double>(RandomAt(key, counter) >> 11) * 0x1.0p-53;
}

// Something else for every element, of one size.
void Stir(uint64_t key, std::span<float> live) {
  for (size_t i = 0; i < live.size(); ++i) {
    const uint64_t bits = RandomAt(key, i);
    // Two uniform values: their sum has most of its mass in the middle, as
    // what rounds produce.
    live[i] += kStir * (static_cast<float>(static_cast<int32_t>(bits)) +
                        static_cast<float>(static_cast<int32_t>(bits >> 32)));
  }
}

}  // namespace

QuadraticModel::QuadraticModel(uint64_t elements, JobId job,
                               const std::string& island, bool every_step)
    : job_(job), every_step_(every_step) {
  const uint64_t seed = Hash64(std::as_bytes(std::span(island)));
  for (uint64_t i = 0; i < elements; ++i) {
    targets_.push_back(static_cast<float>(Unit(seed, i)));
  }
}

void QuadraticModel::Initialize(std::span<float> live) {
  for (uint64_t i = 0; i < live.size(); ++i) {
    live[i] = static_cast<float>(Unit(job_.value(), i) - 0.5);
  }
}

double QuadraticModel::Train(const data::RangeSet& ranges, uint64_t batch,
                             std::span<float> live) {
  if (!every_step_) {
    Stir(ranges.ranges().front().begin, live);
    return 1;
  }
  float* const values = live.data();
  const float* const targets = targets_.data();
  const size_t size = live.size();
  data::RangeSet left = ranges;
  while (!left.empty()) {
    const data::RangeSet step = left.TakeFirst(batch);
    const uint64_t key = step.ranges().front().begin;
    const auto noise = static_cast<float>(kNoise * (Unit(~key, 0) - 0.5));
    for (size_t i = 0; i < size; ++i) {
      values[i] -= kRate * (values[i] - targets[i] - noise);
    }
  }
  return 1;
}

double QuadraticModel::Evaluate(uint64_t, std::span<const float> live) {
  double loss = 0;
  for (const float value : live) {
    loss += static_cast<double>(value) * value;
  }
  return loss;
}

}  // namespace skerry::sim
