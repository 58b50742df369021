#include "optimizer/inner/clip.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/inner/clip.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::optimizer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

double SumOfSquares(const float* HWY_RESTRICT values, size_t count) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d);
  auto b = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto x = hn::PromoteTo(d, hn::LoadU(half, values + i));
    const auto y = hn::PromoteTo(d, hn::LoadU(half, values + i + lanes));
    a = hn::MulAdd(x, x, a);
    b = hn::MulAdd(y, y, b);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
  for (; i < count; ++i) {
    sum += static_cast<double>(values[i]) * values[i];
  }
  return sum;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::optimizer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::optimizer {
HWY_EXPORT(SumOfSquares);

double GlobalNorm(std::span<const float> values, ParallelExecutor& executor) {
  constexpr size_t kParts = 64;
  std::array<double, kParts> sums = {};
  const size_t part = (values.size() + kParts - 1) / kParts;
  executor.ForEach(kParts, [&](size_t i) {
    const size_t begin = std::min(values.size(), i * part);
    const size_t end = std::min(values.size(), begin + part);
    sums[i] =
        HWY_DYNAMIC_DISPATCH(SumOfSquares)(values.data() + begin, end - begin);
  });
  double sum = 0;
  for (const double s : sums) sum += s;
  return std::sqrt(sum);
}

float ClipFactor(double norm, double norm_max) {
  if (norm_max <= 0) return 1;
  return static_cast<float>(std::min(1.0, norm_max / (norm + 1e-6)));
}

}  // namespace skerry::optimizer
#endif  // HWY_ONCE
