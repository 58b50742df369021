#include "model/cpu/activation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/activation.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// After highway.h, once for each target.
#include "model/cpu/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::model::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// With u = sqrt(2/pi) (x + 0.044715 x^3), 0.5 (1 + tanh u) is the logistic
// function of 2u, which needs one exponential.
struct GeluTanh {
  static constexpr float kLinear = 1.5957691216057308f;   // 2 sqrt(2/pi)
  static constexpr float kCubic = 0.071354816272600242f;  // kLinear * 0.044715

  template <class D, class V>
  static HWY_INLINE V Logistic(D d, V x, V square) {
    const V minus_2u = hn::Mul(
        x, hn::NegMulAdd(square, hn::Set(d, kCubic), hn::Set(d, -kLinear)));
    // Beyond 2^126 the quotient would be subnormal; 80 is far inside it.
    const V e = FastExp(d, hn::Min(minus_2u, hn::Set(d, 80.0f)));
    return hn::Div(hn::Set(d, 1.0f), hn::Add(hn::Set(d, 1.0f), e));
  }

  template <class D, class V>
  static HWY_INLINE V Value(D d, V x) {
    return hn::Mul(x, Logistic(d, x, hn::Mul(x, x)));
  }

  template <class D, class V>
  static HWY_INLINE V Slope(D d, V x) {
    const V square = hn::Mul(x, x);
    const V s = Logistic(d, x, square);
    const V inner =
        hn::MulAdd(square, hn::Set(d, 3 * kCubic), hn::Set(d, kLinear));
    // s + x s (1 - s) (2u)'
    const V bend = hn::Mul(hn::Mul(x, s), hn::NegMulAdd(s, inner, inner));
    return hn::Add(s, bend);
  }
};

// erf by formula 7.1.26 of Abramowitz and Stegun, absolute error 1.5e-7.
struct GeluErf {
  // The normal distribution function at x, and exp(-x^2 / 2) in `bell`.
  template <class D, class V>
  static HWY_INLINE V Cdf(D d, V x, V& bell) {
    constexpr float kSqrtHalf = 0.70710678118654752f;
    const V z = hn::Mul(hn::Abs(x), hn::Set(d, kSqrtHalf));
    const V one = hn::Set(d, 1.0f);
    const V t = hn::Div(one, hn::MulAdd(z, hn::Set(d, 0.3275911f), one));
    V p = hn::MulAdd(t, hn::Set(d, 1.061405429f), hn::Set(d, -1.453152027f));
    p = hn::MulAdd(t, p, hn::Set(d, 1.421413741f));
    p = hn::MulAdd(t, p, hn::Set(d, -0.284496736f));
    p = hn::MulAdd(t, p, hn::Set(d, 0.254829592f));
    bell = FastExp(d, hn::Neg(hn::Mul(z, z)));
    const V tail = hn::Mul(hn::Mul(hn::Mul(p, t), bell), hn::Set(d, 0.5f));
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail));
  }

  template <class D, class V>
  static HWY_INLINE V Value(D d, V x) {
    V bell;
    return hn::Mul(x, Cdf(d, x, bell));
  }

  template <class D, class V>
  static HWY_INLINE V Slope(D d, V x) {
    constexpr float kPeak = 0.39894228040143268f;  // 1 / sqrt(2 pi)
    V bell;
    const V cdf = Cdf(d, x, bell);
    return hn::MulAdd(hn::Mul(x, bell), hn::Set(d, kPeak), cdf);
  }
};

// As in PyTorch the slope at 0 is 0, and NaN stays NaN.
struct Relu {
  template <class D, class V>
  static HWY_INLINE V Value(D d, V x) {
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x);
  }

  template <class D, class V>
  static HWY_INLINE V Slope(D d, V x) {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f));
  }
};

// x times the logistic function of x.
struct Silu {
  template <class D, class V>
  static HWY_INLINE V Logistic(D d, V x) {
    const V e = FastExp(d, hn::Min(hn::Neg(x), hn::Set(d, 80.0f)));
    return hn::Div(hn::Set(d, 1.0f), hn::Add(hn::Set(d, 1.0f), e));
  }

  template <class D, class V>
  static HWY_INLINE V Value(D d, V x) {
    return hn::Mul(x, Logistic(d, x));
  }

  template <class D, class V>
  static HWY_INLINE V Slope(D d, V x) {
    const V s = Logistic(d, x);
    const V value = hn::Mul(x, s);
    // s + x s (1 - s)
    return hn::Add(s, hn::NegMulAdd(value, s, value));
  }
};

template <class Function>
HWY_INLINE void MapValue(size_t count, const float* x, float* y) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(Function::Value(d, hn::LoadU(d, x + i)), d, y + i);
  }
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) {
    hn::StoreU(Function::Value(one, hn::LoadU(one, x + i)), one, y + i);
  }
}

template <class Function>
HWY_INLINE void MapSlope(size_t count, const float* x, const float* dy,
                         float* dx) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(
        hn::Mul(hn::LoadU(d, dy + i), Function::Slope(d, hn::LoadU(d, x + i))),
        d, dx + i);
  }
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) {
    hn::StoreU(hn::Mul(hn::LoadU(one, dy + i),
                       Function::Slope(one, hn::LoadU(one, x + i))),
               one, dx + i);
  }
}

void Forward(Activation kind, size_t count, const float* x, float* y) {
  switch (kind) {
    case Activation::kGeluTanh:
      return MapValue<GeluTanh>(count, x, y);
    case Activation::kGeluErf:
      return MapValue<GeluErf>(count, x, y);
    case Activation::kRelu:
      return MapValue<Relu>(count, x, y);
    case Activation::kSilu:
      return MapValue<Silu>(count, x, y);
  }
}

void Backward(Activation kind, size_t count, const float* x, const float* dy,
              float* dx) {
  switch (kind) {
    case Activation::kGeluTanh:
      return MapSlope<GeluTanh>(count, x, dy, dx);
    case Activation::kGeluErf:
      return MapSlope<GeluErf>(count, x, dy, dx);
    case Activation::kRelu:
      return MapSlope<Relu>(count, x, dy, dx);
    case Activation::kSilu:
      return MapSlope<Silu>(count, x, dy, dx);
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

void ActivationForward(Activation kind, size_t count, const float* x,
                       float* y) {
  HWY_DYNAMIC_DISPATCH(Forward)(kind, count, x, y);
}

void ActivationBackward(Activation kind, size_t count, const float* x,
                        const float* dy, float* dx) {
  HWY_DYNAMIC_DISPATCH(Backward)(kind, count, x, dy, dx);
}

}  // namespace skerry::model::cpu
#endif  // HWY_ONCE
