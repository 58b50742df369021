// model/cpu/exp-inl.h
//
// exp in fp32 for kernels that take millions of them. Included once for each
// SIMD target, inside its namespace rules.
#if defined(SKERRY_MODEL_CPU_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_MODEL_CPU_EXP_INL_H_
#undef SKERRY_MODEL_CPU_EXP_INL_H_
#else
#define SKERRY_MODEL_CPU_EXP_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::model::cpu {
namespace HWY_NAMESPACE {
namespace {

// Relative error at most 3e-7 for -87 <= x <= 88; arguments outside are taken
// as the nearer border, which no softmax or GELU can tell from the truth. NaN
// stays NaN.
//
// x = n log 2 + r with |r| <= log(2) / 2; the polynomial is the one of degree 5
// with the least relative error there (7.6e-8), made by Remez exchange.
template <class D, class V>
HWY_INLINE V FastExp(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> di;
  // Comparisons, because Min and Max may drop a NaN: it fails both and stays.
  const V low = hn::Set(d, -87.0f);
  const V high = hn::Set(d, 88.0f);
  V bounded = hn::IfThenElse(hn::Lt(x, low), low, x);
  bounded = hn::IfThenElse(hn::Gt(bounded, high), high, bounded);
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits; with
  // 127 beside it these are the exponent of 2^n.
  const V magic = hn::Set(d, 12582912.0f + 127.0f);
  const V biased = hn::MulAdd(bounded, hn::Set(d, 1.44269504088896341f), magic);
  const V n = hn::Sub(biased, magic);
  // log 2 in two parts, the first with trailing zeros so that n * it is exact.
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), bounded);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V p = hn::MulAdd(r, hn::Set(d, 0.0082975839f), hn::Set(d, 0.0419158766f));
  p = hn::MulAdd(r, p, hn::Set(d, 0.166675784f));
  p = hn::MulAdd(r, p, hn::Set(d, 0.499988905f));
  p = hn::MulAdd(r, p, hn::Set(d, 0.999999690f));
  p = hn::MulAdd(r, p, hn::Set(d, 1.00000007f));
  const auto power = hn::ShiftLeft<23>(hn::BitCast(di, biased));
  return hn::Mul(p, hn::BitCast(d, power));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::model::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
