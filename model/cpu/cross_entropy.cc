#include "model/cpu/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/cross_entropy.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// After highway.h, once for each target.
#include "model/cpu/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::model::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using Wide = hn::ScalableTag<float>;
using One = hn::CappedTag<float, 1>;

HWY_INLINE float Largest(size_t width, const float* x) {
  const Wide d;
  const size_t lanes = hn::Lanes(d);
  float largest = x[0];
  size_t i = 0;
  if (width >= lanes) {
    auto max = hn::LoadU(d, x);
    for (; i + lanes <= width; i += lanes) {
      max = hn::Max(max, hn::LoadU(d, x + i));
    }
    largest = hn::GetLane(hn::MaxOfLanes(d, max));
  }
  for (; i < width; ++i) largest = std::max(largest, x[i]);
  return largest;
}

// Sum of exp(x - shift). kStore: the terms go to `terms`, which may be x.
template <bool kStore>
HWY_INLINE float SumOfExp(size_t width, float shift, const float* x,
                          float* terms) {
  const Wide d;
  const size_t lanes = hn::Lanes(d);
  const auto term = [&](auto tag, size_t i) HWY_ATTR {
    const auto e =
        FastExp(tag, hn::Sub(hn::LoadU(tag, x + i), hn::Set(tag, shift)));
    if constexpr (kStore) hn::StoreU(e, tag, terms + i);
    return e;
  };
  auto sum = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= width; i += lanes) sum = hn::Add(sum, term(d, i));
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < width; ++i) total += hn::GetLane(term(One(), i));
  return total;
}

HWY_INLINE void Scale(size_t width, float factor, float* x) {
  const Wide d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)), d, x + i);
  }
  for (; i < width; ++i) x[i] *= factor;
}

void Forward(int rows, int width, const int32_t* targets, const float* logits,
             float* losses) {
  const size_t n = static_cast<size_t>(width);
  for (int r = 0; r < rows; ++r, logits += n) {
    const float largest = Largest(n, logits);
    const float sum = SumOfExp<false>(n, largest, logits, nullptr);
    losses[r] = std::log(sum) + (largest - logits[targets[r]]);
  }
}

void Backward(int rows, int width, const int32_t* targets, float scale,
              float* logits, float* losses) {
  const size_t n = static_cast<size_t>(width);
  for (int r = 0; r < rows; ++r, logits += n) {
    const float largest = Largest(n, logits);
    const float at_target = logits[targets[r]];
    const float sum = SumOfExp<true>(n, largest, logits, logits);
    losses[r] = std::log(sum) + (largest - at_target);
    Scale(n, scale / sum, logits);
    logits[targets[r]] -= scale;
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

void CrossEntropyForward(int rows, int width, const int32_t* targets,
                         const float* logits, float* losses) {
  HWY_DYNAMIC_DISPATCH(Forward)(rows, width, targets, logits, losses);
}

void CrossEntropyBackward(int rows, int width, const int32_t* targets,
                          float scale, float* logits, float* losses) {
  HWY_DYNAMIC_DISPATCH(Backward)(rows, width, targets, scale, logits, losses);
}

}  // namespace skerry::model::cpu
#endif  // HWY_ONCE
