#include "optimizer/inner/sgd.h"

#include <cstddef>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/inner/sgd.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#ifndef SKERRY_OPTIMIZER_INNER_SGD_FACTORS_
#define SKERRY_OPTIMIZER_INNER_SGD_FACTORS_
namespace skerry::optimizer {
struct SgdFactors {
  float gradient_scale;
  float momentum;
  float weight_decay;
  float learning_rate;
  bool nesterov;
};
}  // namespace skerry::optimizer
#endif  // SKERRY_OPTIMIZER_INNER_SGD_FACTORS_

HWY_BEFORE_NAMESPACE();
namespace skerry::optimizer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

void DescendElements(const SgdFactors& factors, size_t count,
                     const float* HWY_RESTRICT gradient,
                     float* HWY_RESTRICT momentum,
                     float* HWY_RESTRICT parameter) {
  const auto update = [&](auto d, size_t i) HWY_ATTR {
    const auto mu = hn::Set(d, factors.momentum);
    const auto p = hn::LoadU(d, parameter + i);
    const auto g = hn::MulAdd(hn::LoadU(d, gradient + i),
                              hn::Set(d, factors.gradient_scale),
                              hn::Mul(p, hn::Set(d, factors.weight_decay)));
    const auto m = hn::MulAdd(hn::LoadU(d, momentum + i), mu, g);
    hn::StoreU(m, d, momentum + i);
    const auto step = factors.nesterov ? hn::MulAdd(m, mu, g) : m;
    hn::StoreU(hn::NegMulAdd(step, hn::Set(d, factors.learning_rate), p), d,
               parameter + i);
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
HWY_EXPORT(DescendElements);

absl::Status ValidateSgdOptions(const SgdOptions& options) {
  if (!(options.momentum >= 0 && options.momentum < 1)) {
    return absl::InvalidArgumentError(
        "SGD: momentum must be at least 0 and below 1");
  }
  if (options.nesterov && options.momentum == 0) {
    return absl::InvalidArgumentError(
        "SGD: nesterov without momentum has no meaning");
  }
  if (!(options.weight_decay >= 0)) {
    return absl::InvalidArgumentError("SGD: weight_decay must be 0 or more");
  }
  return absl::OkStatus();
}

Sgd::Sgd(const SgdOptions& options, std::span<const Tensor> tensors)
    : options_(options),
      tensors_(tensors.begin(), tensors.end()),
      pieces_(CutIntoPieces(tensors)),
      momentum_(ElementCount(tensors)) {
  SKERRY_CHECK(ValidateSgdOptions(options).ok());
}

void Sgd::Step(std::span<float> parameters, std::span<const float> gradients,
               float learning_rate, float gradient_scale,
               ParallelExecutor& executor) {
  SKERRY_CHECK(
      parameters.size() == gradients.size() &&
      (tensors_.empty() || tensors_.back().range.end <= parameters.size()));
  ++steps_;
  const SgdFactors plain = {gradient_scale, options_.momentum, 0, learning_rate,
                            options_.nesterov};
  SgdFactors decayed = plain;
  decayed.weight_decay = options_.weight_decay;
  executor.ForEach(pieces_.size(), [&](size_t i) {
    const Piece& piece = pieces_[i];
    HWY_DYNAMIC_DISPATCH(DescendElements)
    (tensors_[piece.tensor].decayed ? decayed : plain, piece.range.size(),
     gradients.data() + piece.range.begin, momentum_.data() + piece.state,
     parameters.data() + piece.range.begin);
  });
}

}  // namespace skerry::optimizer
#endif  // HWY_ONCE
