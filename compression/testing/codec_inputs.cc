#include "compression/testing/codec_inputs.h"

#include <bit>
#include <cfloat>
#include <cmath>
#include <utility>

#include "base/random.h"

namespace skerry::compression {
namespace {

std::vector<float> RandomValues(Random& random, size_t count,
                                double magnitude) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>((random.Uniform() * 2 - 1) * magnitude);
  }
  return values;
}

}  // namespace

std::vector<CodecInput> CodecInputs(uint64_t seed) {
  Random random(seed);
  std::vector<CodecInput> inputs = {
      {"empty", {}},
      {"one", {0.75f}},
      {"constant", std::vector<float>(1000, -3.1415927f)},
      {"zeros", std::vector<float>(513, 0.0f)},
      {"minus zeros", std::vector<float>(300, -0.0f)},
      {"smallest subnormals", std::vector<float>(300, FLT_TRUE_MIN)},
      {"largest", std::vector<float>(300, FLT_MAX)},
      {"both largest", {FLT_MAX, -FLT_MAX, 1.0f, -1.0f, 0.0f}},
      {"near the zero block", {0x1p-100f, -0x1.fffffep-101f, 0x1p-107f}},
  };
  for (const size_t count :
       {1, 2, 7, 15, 16, 17, 255, 256, 257, 511, 1023, 4096, 5001}) {
    inputs.push_back({"random", RandomValues(random, count, 1.0)});
    inputs.push_back({"small random", RandomValues(random, count, 1e-6)});
  }
  inputs.push_back({"random subnormals", RandomValues(random, 700, 1e-39)});
  std::vector<float> spikes = RandomValues(random, 2000, 1e-5);
  for (size_t i = 0; i < spikes.size(); i += 97) spikes[i] = 1.0e3f;
  inputs.push_back({"spikes", std::move(spikes)});
  // Halfway points: absmax 127 makes the step of an 8-bit code 1.
  std::vector<float> ties = {127.0f};
  for (int i = -126; i < 126; ++i) ties.push_back(static_cast<float>(i) + 0.5f);
  inputs.push_back({"ties", std::move(ties)});
  std::vector<float> patterns(3000);
  for (float& value : patterns) {
    do {
      value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    } while (!std::isfinite(value));
  }
  inputs.push_back({"any finite pattern", std::move(patterns)});
  return inputs;
}

}  // namespace skerry::compression
