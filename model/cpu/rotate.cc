#include "model/cpu/rotate.h"

#include <cstddef>

namespace skerry::model::cpu {
namespace {

// Plain loops: the compiler's own vectors reach memory speed here.
template <bool kBackward>
void Rotate(const RotateShape& shape, const float* cosines, const float* sines,
            float* x) {
  const size_t half = static_cast<size_t>(shape.head_size) / 2;
  for (int t = 0; t < shape.tokens; ++t) {
    const size_t at = half * ((shape.first + t) % shape.columns);
    const float* __restrict c = cosines + at;
    const float* __restrict s = sines + at;
    for (int head = 0; head < shape.heads; ++head, x += 2 * half) {
      float* __restrict low = x;
      float* __restrict high = x + half;
      for (size_t i = 0; i < half; ++i) {
        const float sine = kBackward ? -s[i] : s[i];
        const float a = low[i];
        const float b = high[i];
        low[i] = a * c[i] - b * sine;
        high[i] = b * c[i] + a * sine;
      }
    }
  }
}

}  // namespace

void RotateForward(const RotateShape& shape, const float* cosines,
                   const float* sines, float* x) {
  Rotate<false>(shape, cosines, sines, x);
}

void RotateBackward(const RotateShape& shape, const float* cosines,
                    const float* sines, float* dx) {
  Rotate<true>(shape, cosines, sines, dx);
}

}  // namespace skerry::model::cpu
