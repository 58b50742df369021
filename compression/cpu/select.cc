#include "compression/cpu/select.h"

#include <algorithm>
#include <functional>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/select.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// Highway has to follow foreach_target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The index of the first vector-sized group from `i` on that holds a magnitude
// of at least `bits`; the start of the incomplete group when there is none.
size_t NextGroup(const float* HWY_RESTRICT values, size_t count, uint32_t bits,
                 size_t i) {
  const hn::ScalableTag<int32_t> di;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto below = hn::Set(di, static_cast<int32_t>(bits) - 1);
  const auto* patterns = reinterpret_cast<const int32_t*>(values);
  for (; i + lanes <= count; i += lanes) {
    const auto size = hn::And(hn::LoadU(di, patterns + i), magnitude);
    if (!hn::AllFalse(di, hn::Gt(size, below))) return i;
  }
  return i;
}

size_t GroupSize() { return hn::Lanes(hn::ScalableTag<int32_t>()); }

size_t CountAll(const float* HWY_RESTRICT values, size_t count, uint32_t bits) {
  const hn::ScalableTag<int32_t> di;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto below = hn::Set(di, static_cast<int32_t>(bits) - 1);
  const auto* patterns = reinterpret_cast<const int32_t*>(values);
  size_t found = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto size = hn::And(hn::LoadU(di, patterns + i), magnitude);
    found += hn::CountTrue(di, hn::Gt(size, below));
  }
  for (; i < count; ++i) found += MagnitudeBits(values[i]) >= bits ? 1 : 0;
  return found;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {
namespace {

HWY_EXPORT(NextGroup);
HWY_EXPORT(GroupSize);
HWY_EXPORT(CountAll);

constexpr uint32_t kInfinityBits = 0x7f800000;
// Below this a copy that is partly sorted beats two histograms.
constexpr size_t kHistogramElementsMin = size_t{1} << 18;
constexpr int kLowBits = 15;

// The bucket that holds the k-th largest, with k counted inside it from then
// on.
size_t BucketOf(std::span<const uint64_t> buckets, size_t& k) {
  size_t bucket = buckets.size();
  while (bucket-- > 0) {
    if (buckets[bucket] >= k) return bucket;
    k -= buckets[bucket];
  }
  SKERRY_CHECK(false);
}

}  // namespace

bool AllFinite(std::span<const float> values) {
  return CountAtLeast(values, kInfinityBits) == 0;
}

size_t CountAtLeast(std::span<const float> values, uint32_t bits) {
  return HWY_DYNAMIC_DISPATCH(CountAll)(values.data(), values.size(), bits);
}

uint32_t KthLargestMagnitude(std::span<const float> values, size_t k) {
  SKERRY_CHECK(k >= 1 && k <= values.size());
  if (values.size() < kHistogramElementsMin) {
    std::vector<uint32_t> sizes(values.size());
    std::transform(values.begin(), values.end(), sizes.begin(), MagnitudeBits);
    std::nth_element(sizes.begin(), sizes.begin() + (k - 1), sizes.end(),
                     std::greater<uint32_t>());
    return sizes[k - 1];
  }
  std::vector<uint64_t> buckets(size_t{1} << (31 - kLowBits));
  for (const float value : values) ++buckets[MagnitudeBits(value) >> kLowBits];
  const auto high = static_cast<uint32_t>(BucketOf(buckets, k));
  buckets.assign(size_t{1} << kLowBits, 0);
  for (const float value : values) {
    const uint32_t size = MagnitudeBits(value);
    if (size >> kLowBits == high) ++buckets[size & ((1u << kLowBits) - 1)];
  }
  return high << kLowBits | static_cast<uint32_t>(BucketOf(buckets, k));
}

void CollectLargest(std::span<const float> values, uint32_t bits, size_t ties,
                    uint64_t offset, std::vector<uint64_t>& indices) {
  const auto next_group = HWY_DYNAMIC_DISPATCH(NextGroup);
  const size_t group = HWY_DYNAMIC_DISPATCH(GroupSize)();
  for (size_t i = 0; i < values.size();) {
    i = next_group(values.data(), values.size(), bits, i);
    const size_t end = std::min(i + group, values.size());
    for (; i < end; ++i) {
      const uint32_t size = MagnitudeBits(values[i]);
      if (size < bits) continue;
      if (size == bits) {
        if (ties == 0) continue;
        --ties;
      }
      indices.push_back(offset + i);
    }
  }
}

void CollectTopK(std::span<const float> values, size_t k, uint64_t offset,
                 std::vector<uint64_t>& indices) {
  if (k == 0) return;
  const uint32_t bits = KthLargestMagnitude(values, k);
  const size_t above = CountAtLeast(values, bits + 1);
  CollectLargest(values, bits, k - above, offset, indices);
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
