// compression/top_k/cpu/kth-inl.h
//
// Finds the k-th largest magnitude: it counts how many values reach a guess,
// and guesses again. Magnitudes are compared as in
// compression/top_k/cpu/select.h. Included once for each SIMD target.
#if defined(SKERRY_COMPRESSION_TOP_K_CPU_KTH_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_TOP_K_CPU_KTH_INL_H_
#undef SKERRY_COMPRESSION_TOP_K_CPU_KTH_INL_H_
#else
#define SKERRY_COMPRESSION_TOP_K_CPU_KTH_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "compression/top_k/cpu/select.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// An eighth of an octave, in patterns: how far below one chunk's threshold the
// next is looked for.
constexpr uint32_t kGuessMargin = 1u << 20;

// How many magnitudes are at least `bits`.
HWY_INLINE size_t CountAll(const float* HWY_RESTRICT values, size_t count,
                           uint32_t bits) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<int32_t> di;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  // As a signed number, 2^31 - 1 is above every magnitude and -1 below.
  const auto below = hn::Set(di, static_cast<int32_t>(bits - 1));
  size_t found = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto pattern = hn::BitCast(di, hn::LoadU(df, values + i));
    const auto size = hn::And(pattern, magnitude);
    found += hn::CountTrue(di, hn::Gt(size, below));
  }
  for (; i < count; ++i) found += MagnitudeBits(values[i]) >= bits ? 1 : 0;
  return found;
}

// How many magnitudes are at least `low`, and how many are at least `high`.
struct Bracket {
  uint32_t low;
  uint32_t high;
  size_t reach_low;
  size_t reach_high;
};

// A magnitude that divides the others in two sets, and how many are above it.
struct Dividing {
  uint32_t magnitude;
  size_t above;
};

// Finds the k-th largest magnitude or, if not `exact`, one between it and the
// next as soon as there is one. Each guess is where the k-th would be if the
// magnitudes in between were spread evenly, or in the middle if the last guess
// has not halved the rest. Requires: reach_low >= k > reach_high.
HWY_INLINE Dividing KthWithin(const float* HWY_RESTRICT values, size_t count,
                              size_t k, Bracket in, bool exact) {
  bool even = true;
  while (in.high - in.low > 1) {
    const uint32_t width = in.high - in.low;
    uint32_t step = width / 2;
    if (even) {
      const double less = static_cast<double>(in.reach_low - k) + 0.5;
      const auto all = static_cast<double>(in.reach_low - in.reach_high);
      step = static_cast<uint32_t>(width * (less / all));
      step = std::clamp<uint32_t>(step, 1, width - 1);
    }
    const uint32_t middle = in.low + step;
    const size_t reach = CountAll(values, count, middle);
    if (reach == k && !exact) return {middle - 1, k};
    if (reach >= k) {
      in.low = middle;
      in.reach_low = reach;
    } else {
      in.high = middle;
      in.reach_high = reach;
    }
    even = !even || in.high - in.low < width / 2;
  }
  return {in.low, in.reach_high};
}

// As KthWithin, where only those of at least `low` are known, k or more.
HWY_INLINE Dividing KthFrom(const float* HWY_RESTRICT values, size_t count,
                            size_t k, uint32_t low, size_t reach_low,
                            bool exact) {
  for (uint32_t step = 1;;) {
    const uint32_t high = low + step;
    const size_t reach = CountAll(values, count, high);
    if (reach < k) {
      return KthWithin(values, count, k, {low, high, reach_low, reach}, exact);
    }
    if (reach == k && !exact) return {high - 1, k};
    low = high;
    reach_low = reach;
    step = std::min(step == 1 ? kGuessMargin : 2 * step, 0x80000000u - low);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
