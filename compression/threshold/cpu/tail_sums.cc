#include "compression/threshold/cpu/tail_sums.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/threshold/cpu/tail_sums.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// Highway has to follow foreach_target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kRun = 16;

struct Lanes16 {
  HWY_ALIGN double count[kRun] = {};
  HWY_ALIGN double sum[kRun] = {};
  HWY_ALIGN double squares[kRun] = {};
  HWY_ALIGN double smallest[kRun];
};

HWY_INLINE void AddRun(const float* HWY_RESTRICT values, double threshold,
                       Lanes16& lanes) {
  const hn::CappedTag<double, kRun> d64;
  const hn::Rebind<float, decltype(d64)> d32;
  const auto origin = hn::Set(d64, threshold);
  const auto one = hn::Set(d64, 1.0);
  for (size_t j = 0; j < kRun; j += hn::Lanes(d64)) {
    const auto size = hn::Abs(hn::PromoteTo(d64, hn::LoadU(d32, values + j)));
    const auto above = hn::Gt(size, origin);
    const auto excess = hn::IfThenElseZero(above, hn::Sub(size, origin));
    const auto add = [&](auto what, double* to) HWY_ATTR {
      hn::Store(hn::Add(hn::Load(d64, to), what), d64, to);
    };
    add(hn::IfThenElseZero(above, one), lanes.count + j);
    add(excess, lanes.sum + j);
    add(hn::Mul(excess, excess), lanes.squares + j);
    const auto smallest = hn::Load(d64, lanes.smallest + j);
    hn::Store(hn::IfThenElse(above, hn::Min(size, smallest), smallest), d64,
              lanes.smallest + j);
  }
}

TailSums SumAll(const float* HWY_RESTRICT values, size_t count,
                double threshold) {
  Lanes16 lanes;
  std::fill(lanes.smallest, lanes.smallest + kRun, TailSums().smallest);
  size_t i = 0;
  for (; i + kRun <= count; i += kRun) AddRun(values + i, threshold, lanes);
  if (i < count) {
    // Zeros exceed no threshold.
    float padded[kRun] = {};
    std::memcpy(padded, values + i, (count - i) * sizeof(float));
    AddRun(padded, threshold, lanes);
  }
  TailSums sums;
  for (size_t j = 0; j < kRun; ++j) {
    sums.count += lanes.count[j];
    sums.sum += lanes.sum[j];
    sums.squares += lanes.squares[j];
    sums.smallest = std::min(sums.smallest, lanes.smallest[j]);
  }
  return sums;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(SumAll);

TailSums SumsAbove(std::span<const float> values, double threshold) {
  return HWY_DYNAMIC_DISPATCH(SumAll)(values.data(), values.size(), threshold);
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
