#include "compression/top_k/cpu/select.h"

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/top_k/cpu/select.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/top_k/cpu/kth-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {

size_t CountSlice(const float* HWY_RESTRICT values, size_t count,
                  uint32_t bits) {
  return CountAll(values, count, bits);
}

uint32_t KthOfSlice(const float* HWY_RESTRICT values, size_t count, size_t k,
                    uint32_t low, size_t reach_low, bool exact) {
  return KthFrom(values, count, k, low, reach_low, exact).magnitude;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {
namespace {

HWY_EXPORT(CountSlice);
HWY_EXPORT(KthOfSlice);

}  // namespace

size_t CountAtLeast(std::span<const float> values, uint32_t bits) {
  return HWY_DYNAMIC_DISPATCH(CountSlice)(values.data(), values.size(), bits);
}

uint32_t KthLargestMagnitude(std::span<const float> values, size_t k,
                             uint32_t hint) {
  SKERRY_CHECK(k >= 1 && k <= values.size());
  const size_t reach = CountAtLeast(values, hint);
  const bool below = reach >= k;
  return HWY_DYNAMIC_DISPATCH(KthOfSlice)(
      values.data(), values.size(), k, below ? hint : 0,
      below ? reach : values.size(), /*exact=*/true);
}

uint32_t DividingMagnitude(std::span<const float> values, size_t k,
                           uint32_t hint) {
  SKERRY_CHECK(k >= 1 && k <= values.size());
  const size_t reach = CountAtLeast(values, hint);
  const bool below = reach >= k;
  return HWY_DYNAMIC_DISPATCH(KthOfSlice)(
      values.data(), values.size(), k, below ? hint : 0,
      below ? reach : values.size(), /*exact=*/false);
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
