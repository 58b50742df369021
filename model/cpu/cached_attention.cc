#include "model/cpu/cached_attention.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace skerry::model::cpu {
namespace {

// Several sums side by side, so that they do not wait for one another.
float Dot(size_t count, const float* a, const float* b) {
  constexpr size_t kSums = 8;
  float sums[kSums] = {};
  size_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (size_t lane = 0; lane < kSums; ++lane) {
      sums[lane] += a[i + lane] * b[i + lane];
    }
  }
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  float sum = 0;
  for (const float lane : sums) sum += lane;
  return sum;
}

}  // namespace

void CachedAttention(const CachedAttentionShape& shape, const float* query,
                     const float* key, const float* value,
                     std::span<float> scores, float* out) {
  const auto keys = static_cast<size_t>(shape.keys);
  const auto size = static_cast<size_t>(shape.head_size);
  SKERRY_CHECK(keys > 0 && scores.size() >= keys);
  for (int head = 0; head < shape.group; ++head, query += size, out += size) {
    for (size_t s = 0; s < keys; ++s) {
      scores[s] = shape.scale * Dot(size, query, key + s * shape.stride);
    }
    const float largest = *std::max_element(
        scores.begin(), scores.begin() + static_cast<ptrdiff_t>(keys));
    double total = 0;
    for (size_t s = 0; s < keys; ++s) {
      scores[s] = std::exp(scores[s] - largest);
      total += scores[s];
    }
    std::fill(out, out + size, 0.0f);
    for (size_t s = 0; s < keys; ++s) {
      const auto share = static_cast<float>(scores[s] / total);
      const float* row = value + s * shape.stride;
      for (size_t i = 0; i < size; ++i) out[i] += share * row[i];
    }
  }
}

}  // namespace skerry::model::cpu
