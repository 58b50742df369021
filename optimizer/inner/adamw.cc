#include "optimizer/inner/adamw.h"

#include <cmath>
#include <cstddef>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/inner/adamw.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#ifndef SKERRY_OPTIMIZER_INNER_ADAMW_FACTORS_
#define SKERRY_OPTIMIZER_INNER_ADAMW_FACTORS_
namespace skerry::optimizer {
// What one step multiplies by, the same for all elements of a piece.
struct AdamWFactors {
  float gradient_scale;
  float beta1;
  float beta2;
  float keep;        // 1 - learning_rate * weight_decay
  float step_size;   // learning_rate / (1 - beta1^t)
  float root_scale;  // 1 / sqrt(1 - beta2^t)
  float epsilon;
};
}  // namespace skerry::optimizer
#endif  // SKERRY_OPTIMIZER_INNER_ADAMW_FACTORS_

HWY_BEFORE_NAMESPACE();
namespace skerry::optimizer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

void UpdateElements(const AdamWFactors& factors, size_t count,
                    const float* HWY_RESTRICT gradient, float* HWY_RESTRICT m,
                    float* HWY_RESTRICT v, float* HWY_RESTRICT parameter) {
  const auto update = [&](auto d, size_t i) HWY_ATTR {
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
    const auto bottom = hn::MulAdd(hn::Sqrt(v1), hn::Set(d, factors.root_scale),
                                   hn::Set(d, factors.epsilon));
    const auto kept =
        hn::Mul(hn::LoadU(d, parameter + i), hn::Set(d, factors.keep));
    const auto step =
        hn::Mul(hn::Div(m1, bottom), hn::Set(d, factors.step_size));
    hn::StoreU(hn::Sub(kept, step), d, parameter + i);
  };
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) update(d, i);
  for (; i < count; ++i) update(hn::CappedTag<float, 1>(), i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::optimizer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::optimizer {
HWY_EXPORT(UpdateElements);

absl::Status ValidateAdamWOptions(const AdamWOptions& options) {
  const auto is_decay = [](float beta) { return beta >= 0 && beta < 1; };
  if (!is_decay(options.beta1) || !is_decay(options.beta2)) {
    return absl::InvalidArgumentError(
        "AdamW: beta1 and beta2 must be at least 0 and below 1");
  }
  if (!(options.epsilon > 0)) {
    return absl::InvalidArgumentError("AdamW: epsilon must be above 0");
  }
  if (!(options.weight_decay >= 0)) {
    return absl::InvalidArgumentError("AdamW: weight_decay must be 0 or more");
  }
  return absl::OkStatus();
}

AdamW::AdamW(const AdamWOptions& options, std::span<const Tensor> tensors)
    : options_(options),
      tensors_(tensors.begin(), tensors.end()),
      pieces_(CutIntoPieces(tensors)),
      first_moment_(ElementCount(tensors)),
      second_moment_(ElementCount(tensors)) {
  SKERRY_CHECK(ValidateAdamWOptions(options).ok());
}

void AdamW::Step(std::span<float> parameters, std::span<const float> gradients,
                 float learning_rate, float gradient_scale,
                 ParallelExecutor& executor) {
  SKERRY_CHECK(
      parameters.size() == gradients.size() &&
      (tensors_.empty() || tensors_.back().range.end <= parameters.size()));
  ++steps_;
  const double t = static_cast<double>(steps_);
  const double correction1 = 1 - std::pow(double{options_.beta1}, t);
  const double correction2 = 1 - std::pow(double{options_.beta2}, t);
  AdamWFactors plain;
  plain.gradient_scale = gradient_scale;
  plain.beta1 = options_.beta1;
  plain.beta2 = options_.beta2;
  plain.keep = 1;
  plain.step_size = static_cast<float>(learning_rate / correction1);
  plain.root_scale = static_cast<float>(1 / std::sqrt(correction2));
  plain.epsilon = options_.epsilon;
  AdamWFactors decayed = plain;
  decayed.keep =
      static_cast<float>(1 - double{learning_rate} * options_.weight_decay);
  executor.ForEach(pieces_.size(), [&](size_t i) {
    const Piece& piece = pieces_[i];
    HWY_DYNAMIC_DISPATCH(UpdateElements)
    (tensors_[piece.tensor].decayed ? decayed : plain, piece.range.size(),
     gradients.data() + piece.range.begin, first_moment_.data() + piece.state,
     second_moment_.data() + piece.state,
     parameters.data() + piece.range.begin);
  });
}

}  // namespace skerry::optimizer
#endif  // HWY_ONCE
