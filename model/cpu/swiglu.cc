#include "model/cpu/swiglu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/swiglu.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// After highway.h, once for each target.
#include "model/cpu/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::model::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// 1 / (1 + exp(-x)). FastExp bounds its argument, so neither the exponential
// nor the quotient leaves the normal numbers.
template <class D, class V>
HWY_INLINE V Logistic(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(
      one, hn::Add(one, FastExp(d, hn::Min(hn::Neg(x), hn::Set(d, 80.0f)))));
}

template <class D>
HWY_INLINE void ForwardAt(D d, const float* gate, const float* up, float* y) {
  const auto x = hn::LoadU(d, gate);
  hn::StoreU(hn::Mul(hn::Mul(x, Logistic(d, x)), hn::LoadU(d, up)), d, y);
}

template <class D>
HWY_INLINE void BackwardAt(D d, const float* gate, const float* up,
                           const float* dy, float* dgate, float* dup) {
  const auto x = hn::LoadU(d, gate);
  const auto g = hn::LoadU(d, dy);
  const auto u = hn::LoadU(d, up);
  const auto s = Logistic(d, x);
  const auto silu = hn::Mul(x, s);
  // silu' = s + x s (1 - s)
  const auto slope = hn::Add(s, hn::NegMulAdd(silu, s, silu));
  hn::StoreU(hn::Mul(hn::Mul(g, u), slope), d, dgate);
  hn::StoreU(hn::Mul(g, silu), d, dup);
}

void Forward(size_t count, const float* gate, const float* up, float* y) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) ForwardAt(d, gate + i, up + i, y + i);
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) ForwardAt(one, gate + i, up + i, y + i);
}

void Backward(size_t count, const float* gate, const float* up, const float* dy,
              float* dgate, float* dup) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    BackwardAt(d, gate + i, up + i, dy + i, dgate + i, dup + i);
  }
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) {
    BackwardAt(one, gate + i, up + i, dy + i, dgate + i, dup + i);
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

void SwiGluForward(size_t count, const float* gate, const float* up, float* y) {
  HWY_DYNAMIC_DISPATCH(Forward)(count, gate, up, y);
}

void SwiGluBackward(size_t count, const float* gate, const float* up,
                    const float* dy, float* dgate, float* dup) {
  HWY_DYNAMIC_DISPATCH(Backward)(count, gate, up, dy, dgate, dup);
}

}  // namespace skerry::model::cpu
#endif  // HWY_ONCE
