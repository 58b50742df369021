#include "model/cpu/rmsnorm.h"

#include <cmath>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/rmsnorm.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::model::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using Wide = hn::ScalableTag<float>;
using One = hn::CappedTag<float, 1>;

// The part of `width` that whole vectors cover.
HWY_INLINE size_t WholeVectors(size_t width) {
  return width - width % hn::Lanes(Wide());
}

HWY_INLINE float MeanSquare(size_t n, const float* HWY_RESTRICT x) {
  const Wide d;
  auto sum = hn::Zero(d);
  const size_t whole = WholeVectors(n);
  size_t i = 0;
  for (; i < whole; i += hn::Lanes(d)) {
    const auto v = hn::LoadU(d, x + i);
    sum = hn::MulAdd(v, v, sum);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < n; ++i) total += x[i] * x[i];
  return total / static_cast<float>(n);
}

void Forward(int rows, int width, float epsilon, const float* x,
             const float* weight, float* y, float* rstd) {
  const size_t n = static_cast<size_t>(width);
  const size_t whole = WholeVectors(n);
  for (int r = 0; r < rows; ++r, x += n, y += n) {
    rstd[r] = 1 / std::sqrt(MeanSquare(n, x) + epsilon);
    const auto scale = [&](auto d, size_t i) HWY_ATTR {
      const auto hat = hn::Mul(hn::LoadU(d, x + i), hn::Set(d, rstd[r]));
      hn::StoreU(hn::Mul(hat, hn::LoadU(d, weight + i)), d, y + i);
    };
    size_t i = 0;
    for (; i < whole; i += hn::Lanes(Wide())) scale(Wide(), i);
    for (; i < n; ++i) scale(One(), i);
  }
}

// With h = x rstd and g = dy * weight: dx = rstd * (g - h * mean(g h)).
template <bool kAccumulate>
HWY_INLINE void BackwardRow(size_t n, const float* HWY_RESTRICT x,
                            const float* HWY_RESTRICT weight, float rstd,
                            const float* HWY_RESTRICT dy,
                            float* HWY_RESTRICT dx,
                            float* HWY_RESTRICT dweight) {
  const Wide d;
  const size_t whole = WholeVectors(n);
  auto sum = hn::Zero(d);
  size_t i = 0;
  for (; i < whole; i += hn::Lanes(d)) {
    const auto hat = hn::Mul(hn::LoadU(d, x + i), hn::Set(d, rstd));
    const auto slope = hn::Mul(hn::LoadU(d, dy + i), hat);
    sum = hn::MulAdd(slope, hn::LoadU(d, weight + i), sum);
    hn::StoreU(hn::Add(slope, hn::LoadU(d, dweight + i)), d, dweight + i);
  }
  float mean = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < n; ++i) {
    const float slope = dy[i] * x[i] * rstd;
    mean += slope * weight[i];
    dweight[i] += slope;
  }
  // x rstd mean = h mean.
  const float pull = rstd * mean / static_cast<float>(n);
  const auto input = [&](auto tag, size_t k) HWY_ATTR {
    const auto g = hn::Mul(hn::LoadU(tag, dy + k), hn::LoadU(tag, weight + k));
    auto out =
        hn::Mul(hn::NegMulAdd(hn::LoadU(tag, x + k), hn::Set(tag, pull), g),
                hn::Set(tag, rstd));
    if constexpr (kAccumulate) out = hn::Add(out, hn::LoadU(tag, dx + k));
    hn::StoreU(out, tag, dx + k);
  };
  for (i = 0; i < whole; i += hn::Lanes(d)) input(d, i);
  for (; i < n; ++i) input(One(), i);
}

void Backward(int rows, int width, const float* x, const float* weight,
              const float* rstd, const float* dy, bool accumulate, float* dx,
              float* dweight) {
  const size_t n = static_cast<size_t>(width);
  for (int r = 0; r < rows; ++r, x += n, dy += n, dx += n) {
    if (accumulate) {
      BackwardRow<true>(n, x, weight, rstd[r], dy, dx, dweight);
    } else {
      BackwardRow<false>(n, x, weight, rstd[r], dy, dx, dweight);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::model::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::model::cpu {
HWY_EXPORT(Forward);
HWY_EXPORT(Backward);

void RmsNormForward(int rows, int width, float epsilon, const float* x,
                    const float* weight, float* y, float* rstd) {
  HWY_DYNAMIC_DISPATCH(Forward)(rows, width, epsilon, x, weight, y, rstd);
}

void RmsNormBackward(int rows, int width, const float* x, const float* weight,
                     const float* rstd, const float* dy, bool accumulate,
                     float* dx, float* dweight) {
  HWY_DYNAMIC_DISPATCH(Backward)
  (rows, width, x, weight, rstd, dy, accumulate, dx, dweight);
}

}  // namespace skerry::model::cpu
#endif  // HWY_ONCE
