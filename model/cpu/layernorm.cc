#include "model/cpu/layernorm.h"

#include <cmath>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/layernorm.cc"
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

HWY_INLINE float Sum(hn::Vec<Wide> sum) {
  return hn::GetLane(hn::SumOfLanes(Wide(), sum));
}

HWY_INLINE float Mean(size_t width, const float* HWY_RESTRICT x) {
  const Wide d;
  auto sum = hn::Zero(d);
  const size_t whole = WholeVectors(width);
  size_t i = 0;
  for (; i < whole; i += hn::Lanes(d)) sum = hn::Add(sum, hn::LoadU(d, x + i));
  float total = Sum(sum);
  for (; i < width; ++i) total += x[i];
  return total / static_cast<float>(width);
}

HWY_INLINE float Variance(size_t width, const float* HWY_RESTRICT x,
                          float mean) {
  const Wide d;
  const auto mean_vector = hn::Set(d, mean);
  auto sum = hn::Zero(d);
  const size_t whole = WholeVectors(width);
  size_t i = 0;
  for (; i < whole; i += hn::Lanes(d)) {
    const auto c = hn::Sub(hn::LoadU(d, x + i), mean_vector);
    sum = hn::MulAdd(c, c, sum);
  }
  float total = Sum(sum);
  for (; i < width; ++i) total += (x[i] - mean) * (x[i] - mean);
  return total / static_cast<float>(width);
}

void Forward(int rows, int width, float epsilon, const float* x,
             const float* weight, const float* bias, float* y, float* mean,
             float* rstd) {
  const size_t n = static_cast<size_t>(width);
  const size_t whole = WholeVectors(n);
  for (int r = 0; r < rows; ++r, x += n, y += n) {
    mean[r] = Mean(n, x);
    rstd[r] = 1 / std::sqrt(Variance(n, x, mean[r]) + epsilon);
    const auto normalize = [&](auto d, size_t i) HWY_ATTR {
      const auto hat =
          hn::Mul(hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean[r])),
                  hn::Set(d, rstd[r]));
      hn::StoreU(
          hn::MulAdd(hat, hn::LoadU(d, weight + i), hn::LoadU(d, bias + i)), d,
          y + i);
    };
    size_t i = 0;
    for (; i < whole; i += hn::Lanes(Wide())) normalize(Wide(), i);
    for (; i < n; ++i) normalize(One(), i);
  }
}

// With h the normalized row and g = dy * weight:
// dx = rstd * (g - mean(g) - h * mean(g h)).
template <bool kAccumulate>
HWY_INLINE void BackwardRow(size_t n, const float* HWY_RESTRICT x,
                            const float* HWY_RESTRICT weight, float mean,
                            float rstd, const float* HWY_RESTRICT dy,
                            float* HWY_RESTRICT dx, float* HWY_RESTRICT dweight,
                            float* HWY_RESTRICT dbias) {
  const Wide d;
  const size_t whole = WholeVectors(n);
  const auto hat = [&](auto tag, size_t i) HWY_ATTR {
    return hn::Mul(hn::Sub(hn::LoadU(tag, x + i), hn::Set(tag, mean)),
                   hn::Set(tag, rstd));
  };
  const auto parameters = [&](auto tag, size_t i) HWY_ATTR {
    const auto g = hn::LoadU(tag, dy + i);
    hn::StoreU(hn::MulAdd(g, hat(tag, i), hn::LoadU(tag, dweight + i)), tag,
               dweight + i);
    hn::StoreU(hn::Add(g, hn::LoadU(tag, dbias + i)), tag, dbias + i);
  };
  auto sum_g = hn::Zero(d);
  auto sum_gh = hn::Zero(d);
  size_t i = 0;
  for (; i < whole; i += hn::Lanes(d)) {
    const auto g = hn::Mul(hn::LoadU(d, dy + i), hn::LoadU(d, weight + i));
    sum_g = hn::Add(sum_g, g);
    sum_gh = hn::MulAdd(g, hat(d, i), sum_gh);
    parameters(d, i);
  }
  float mean_g = Sum(sum_g);
  float mean_gh = Sum(sum_gh);
  for (; i < n; ++i) {
    mean_g += dy[i] * weight[i];
    mean_gh += dy[i] * weight[i] * (x[i] - mean) * rstd;
    parameters(One(), i);
  }
  mean_g /= static_cast<float>(n);
  mean_gh /= static_cast<float>(n);
  const auto input = [&](auto tag, size_t k) HWY_ATTR {
    const auto g = hn::MulSub(hn::LoadU(tag, dy + k),
                              hn::LoadU(tag, weight + k), hn::Set(tag, mean_g));
    auto out = hn::Mul(hn::NegMulAdd(hat(tag, k), hn::Set(tag, mean_gh), g),
                       hn::Set(tag, rstd));
    if constexpr (kAccumulate) out = hn::Add(out, hn::LoadU(tag, dx + k));
    hn::StoreU(out, tag, dx + k);
  };
  for (i = 0; i < whole; i += hn::Lanes(d)) input(d, i);
  for (; i < n; ++i) input(One(), i);
}

void Backward(int rows, int width, const float* x, const float* weight,
              const float* mean, const float* rstd, const float* dy,
              bool accumulate, float* dx, float* dweight, float* dbias) {
  const size_t n = static_cast<size_t>(width);
  for (int r = 0; r < rows; ++r, x += n, dy += n, dx += n) {
    if (accumulate) {
      BackwardRow<true>(n, x, weight, mean[r], rstd[r], dy, dx, dweight, dbias);
    } else {
      BackwardRow<false>(n, x, weight, mean[r], rstd[r], dy, dx, dweight,
                         dbias);
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

void LayerNormForward(int rows, int width, float epsilon, const float* x,
                      const float* weight, const float* bias, float* y,
                      float* mean, float* rstd) {
  HWY_DYNAMIC_DISPATCH(Forward)
  (rows, width, epsilon, x, weight, bias, y, mean, rstd);
}

void LayerNormBackward(int rows, int width, const float* x, const float* weight,
                       const float* mean, const float* rstd, const float* dy,
                       bool accumulate, float* dx, float* dweight,
                       float* dbias) {
  HWY_DYNAMIC_DISPATCH(Backward)
  (rows, width, x, weight, mean, rstd, dy, accumulate, dx, dweight, dbias);
}

}  // namespace skerry::model::cpu
#endif  // HWY_ONCE
