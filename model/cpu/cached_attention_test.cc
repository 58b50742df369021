#include "model/cpu/cached_attention.h"

#include <cmath>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::model::cpu {
namespace {

TEST(CachedAttentionTest, AgreesWithTheDefinitionInDouble) {
  for (const int size : {1, 7, 8, 21}) {
    for (const int keys : {1, 2, 13}) {
      constexpr int kGroup = 3;
      const size_t stride = static_cast<size_t>(size) + 5;
      const size_t n = static_cast<size_t>(size);
      Random random(static_cast<uint64_t>(size * 100 + keys));
      const auto draw = [&](size_t count) {
        std::vector<float> values(count);
        for (float& v : values) v = static_cast<float>(random.Uniform() - 0.5);
        return values;
      };
      const std::vector<float> query = draw(n * kGroup);
      const std::vector<float> key = draw(stride * static_cast<size_t>(keys));
      const std::vector<float> value = draw(stride * static_cast<size_t>(keys));
      std::vector<float> scores(static_cast<size_t>(keys));
      std::vector<float> out(n * kGroup);
      CachedAttention({keys, size, kGroup, stride, 1.7f}, query.data(),
                      key.data(), value.data(), scores, out.data());
      for (size_t head = 0; head < kGroup; ++head) {
        std::vector<double> weights;
        double total = 0;
        for (size_t s = 0; s < scores.size(); ++s) {
          double dot = 0;
          for (size_t i = 0; i < n; ++i) {
            dot += double{query[head * n + i]} * key[s * stride + i];
          }
          weights.push_back(std::exp(1.7 * dot));
          total += weights.back();
        }
        for (size_t i = 0; i < n; ++i) {
          double expected = 0;
          for (size_t s = 0; s < weights.size(); ++s) {
            expected += weights[s] / total * value[s * stride + i];
          }
          EXPECT_NEAR(out[head * n + i], expected, 1e-6)
              << "size " << size << " keys " << keys;
        }
      }
    }
  }
}

}  // namespace
}  // namespace skerry::model::cpu
