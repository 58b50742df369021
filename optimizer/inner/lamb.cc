#include "optimizer/inner/lamb.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/check.h"
#include "base/status.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/inner/lamb.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#ifndef SKERRY_OPTIMIZER_INNER_LAMB_FACTORS_
#define SKERRY_OPTIMIZER_INNER_LAMB_FACTORS_
namespace skerry::optimizer {
struct LambFactors {
  float gradient_scale;
  float beta1;
  float beta2;
  float mean_scale;  // 1 / (1 - beta1^t)
  float root_scale;  // 1 / sqrt(1 - beta2^t)
  float epsilon;
  float weight_decay;
};
}  // namespace skerry::optimizer
#endif  // SKERRY_OPTIMIZER_INNER_LAMB_FACTORS_

HWY_BEFORE_NAMESPACE();
namespace skerry::optimizer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// The step before its ratio, from moments that are up to date.
template <class D, class V>
HWY_INLINE V Update(const LambFactors& factors, D d, V m, V v, V p) {
  const V bottom = hn::MulAdd(hn::Sqrt(v), hn::Set(d, factors.root_scale),
                              hn::Set(d, factors.epsilon));
  const V top = hn::Mul(m, hn::Set(d, factors.mean_scale));
  return hn::MulAdd(p, hn::Set(d, factors.weight_decay), hn::Div(top, bottom));
}

template <class D, class V>
HWY_INLINE double SumOfSquares(D d, V sums) {
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sums)));
}

void UpdateMoments(const LambFactors& factors, size_t count,
                   const float* HWY_RESTRICT gradient, float* HWY_RESTRICT m,
                   float* HWY_RESTRICT v, const float* HWY_RESTRICT parameter,
                   double* HWY_RESTRICT parameter_squares,
                   double* HWY_RESTRICT update_squares) {
  double of_parameters = 0;
  double of_updates = 0;
  const auto update = [&](auto d, size_t i, auto& p_sums,
                          auto& u_sums) HWY_ATTR {
    const auto g =
        hn::Mul(hn::LoadU(d, gradient + i), hn::Set(d, factors.gradient_scale));
    const auto m0 = hn::LoadU(d, m + i);
    const auto v0 = hn::LoadU(d, v + i);
    const auto m1 =
        hn::MulAdd(hn::Sub(g, m0), hn::Set(d, 1 - factors.beta1), m0);
    const auto v1 = hn::MulAdd(hn::Mul(g, g), hn::Set(d, 1 - factors.beta2),
                               hn::Mul(v0, hn::Set(d, factors.beta2)));
    hn::StoreU(m1, d, m + i);
    hn::StoreU(v1, d, v + i);
    const auto p = hn::LoadU(d, parameter + i);
    const auto u = Update(factors, d, m1, v1, p);
    p_sums = hn::MulAdd(p, p, p_sums);
    u_sums = hn::MulAdd(u, u, u_sums);
  };
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  auto p_sums = hn::Zero(d);
  auto u_sums = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) update(d, i, p_sums, u_sums);
  of_parameters += SumOfSquares(d, p_sums);
  of_updates += SumOfSquares(d, u_sums);
  const hn::CappedTag<float, 1> one;
  auto p_last = hn::Zero(one);
  auto u_last = hn::Zero(one);
  for (; i < count; ++i) update(one, i, p_last, u_last);
  *parameter_squares = of_parameters + SumOfSquares(one, p_last);
  *update_squares = of_updates + SumOfSquares(one, u_last);
}

void ApplyUpdate(const LambFactors& factors, float rate, size_t count,
                 const float* HWY_RESTRICT m, const float* HWY_RESTRICT v,
                 float* HWY_RESTRICT parameter) {
  const auto apply = [&](auto d, size_t i) HWY_ATTR {
    const auto p = hn::LoadU(d, parameter + i);
    const auto u =
        Update(factors, d, hn::LoadU(d, m + i), hn::LoadU(d, v + i), p);
    hn::StoreU(hn::NegMulAdd(u, hn::Set(d, rate), p), d, parameter + i);
  };
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) apply(d, i);
  for (; i < count; ++i) apply(hn::CappedTag<float, 1>(), i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::optimizer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::optimizer {
HWY_EXPORT(UpdateMoments);
HWY_EXPORT(ApplyUpdate);

absl::Status ValidateLambOptions(const LambOptions& options) {
  SKERRY_RETURN_IF_ERROR(ValidateAdamWOptions(options.adam));
  if (!(options.ratio_min > 0 && options.ratio_min <= options.ratio_max &&
        std::isfinite(options.ratio_max))) {
    return absl::InvalidArgumentError(
        "LAMB: 0 < ratio_min <= ratio_max must hold");
  }
  return absl::OkStatus();
}

Lamb::Lamb(const LambOptions& options, std::span<const Tensor> tensors)
    : options_(options),
      tensors_(tensors.begin(), tensors.end()),
      pieces_(CutIntoPieces(tensors)),
      first_moment_(ElementCount(tensors)),
      second_moment_(ElementCount(tensors)),
      squares_(pieces_.size()),
      ratios_(tensors.size(), 1.0f) {
  SKERRY_CHECK(ValidateLambOptions(options).ok());
}

void Lamb::Step(std::span<float> parameters, std::span<const float> gradients,
                float learning_rate, float gradient_scale,
                ParallelExecutor& executor) {
  SKERRY_CHECK(
      parameters.size() == gradients.size() &&
      (tensors_.empty() || tensors_.back().range.end <= parameters.size()));
  ++steps_;
  const double t = static_cast<double>(steps_);
  const AdamWOptions& adam = options_.adam;
  LambFactors plain;
  plain.gradient_scale = gradient_scale;
  plain.beta1 = adam.beta1;
  plain.beta2 = adam.beta2;
  plain.mean_scale =
      static_cast<float>(1 / (1 - std::pow(double{adam.beta1}, t)));
  plain.root_scale =
      static_cast<float>(1 / std::sqrt(1 - std::pow(double{adam.beta2}, t)));
  plain.epsilon = adam.epsilon;
  plain.weight_decay = 0;
  LambFactors decayed = plain;
  decayed.weight_decay = adam.weight_decay;
  executor.ForEach(pieces_.size(), [&](size_t i) {
    const Piece& piece = pieces_[i];
    HWY_DYNAMIC_DISPATCH(UpdateMoments)
    (tensors_[piece.tensor].decayed ? decayed : plain, piece.range.size(),
     gradients.data() + piece.range.begin, first_moment_.data() + piece.state,
     second_moment_.data() + piece.state, parameters.data() + piece.range.begin,
     &squares_[i].parameter, &squares_[i].update);
  });
  SetRatios();
  executor.ForEach(pieces_.size(), [&](size_t i) {
    const Piece& piece = pieces_[i];
    HWY_DYNAMIC_DISPATCH(ApplyUpdate)
    (tensors_[piece.tensor].decayed ? decayed : plain,
     learning_rate * ratios_[piece.tensor], piece.range.size(),
     first_moment_.data() + piece.state, second_moment_.data() + piece.state,
     parameters.data() + piece.range.begin);
  });
}

void Lamb::SetRatios() {
  for (size_t i = 0; i < pieces_.size();) {
    const uint32_t tensor = pieces_[i].tensor;
    Squares sum;
    for (; i < pieces_.size() && pieces_[i].tensor == tensor; ++i) {
      sum.parameter += squares_[i].parameter;
      sum.update += squares_[i].update;
    }
    if (!tensors_[tensor].decayed || sum.parameter == 0 || sum.update == 0) {
      ratios_[tensor] = 1;
      continue;
    }
    ratios_[tensor] =
        std::clamp(static_cast<float>(std::sqrt(sum.parameter / sum.update)),
                   options_.ratio_min, options_.ratio_max);
  }
}

}  // namespace skerry::optimizer
#endif  // HWY_ONCE
