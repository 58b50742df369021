#include "model/spec/rotary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace skerry::model {
namespace {

constexpr double kTurn = 6.28318530717958647692;

double Llama3Frequency(const RotaryConfig& config, double frequency) {
  // How often the wave turns in the old context.
  const double turns = config.original_positions * frequency / kTurn;
  if (turns > config.high_frequency_factor) return frequency;
  if (turns < config.low_frequency_factor) return frequency / config.factor;
  const double kept =
      (turns - config.low_frequency_factor) /
      (config.high_frequency_factor - config.low_frequency_factor);
  return frequency * ((1 - kept) / config.factor + kept);
}

// The (fractional) element of a head whose wave turns `turns` times in the old
// context.
double YarnDimension(const RotaryConfig& config, int head_size, double turns) {
  return head_size * std::log(config.original_positions / (turns * kTurn)) /
         (2 * std::log(config.theta));
}

double YarnFrequency(const RotaryConfig& config, int head_size, int pair,
                     double frequency) {
  double low = YarnDimension(config, head_size, config.beta_fast);
  double high = YarnDimension(config, head_size, config.beta_slow);
  if (config.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, head_size - 1.0);
  if (low == high) high += 0.001;
  const double stretched = std::clamp((pair - low) / (high - low), 0.0, 1.0);
  return frequency * (stretched / config.factor + (1 - stretched));
}

}  // namespace

double RotaryFrequency(const RotaryConfig& config, int head_size, int columns,
                       int pair) {
  SKERRY_CHECK(head_size > 0 && head_size % 2 == 0);
  double theta = config.theta;
  if (config.scaling == RotaryScaling::kDynamic &&
      columns > config.original_positions) {
    const double stretch = config.factor * columns / config.original_positions -
                           (config.factor - 1);
    theta *= std::pow(stretch, head_size / (head_size - 2.0));
  }
  const double frequency = std::pow(theta, -2.0 * pair / head_size);
  switch (config.scaling) {
    case RotaryScaling::kNone:
    case RotaryScaling::kDynamic:
      return frequency;
    case RotaryScaling::kLinear:
      return frequency / config.factor;
    case RotaryScaling::kLlama3:
      return Llama3Frequency(config, frequency);
    case RotaryScaling::kYarn:
      return YarnFrequency(config, head_size, pair, frequency);
  }
  SKERRY_CHECK(false);
}

void FillRotaryTables(const RotaryConfig& config, int head_size, int columns,
                      std::span<float> cosines, std::span<float> sines) {
  const size_t half = static_cast<size_t>(head_size) / 2;
  SKERRY_CHECK(cosines.size() % half == 0 && sines.size() == cosines.size());
  for (size_t pair = 0; pair < half; ++pair) {
    const double frequency =
        RotaryFrequency(config, head_size, columns, static_cast<int>(pair));
    for (size_t i = pair; i < cosines.size(); i += half) {
      const double angle = static_cast<double>(i / half) * frequency;
      cosines[i] =
          static_cast<float>(config.attention_factor * std::cos(angle));
      sines[i] = static_cast<float>(config.attention_factor * std::sin(angle));
    }
  }
}

}  // namespace skerry::model
