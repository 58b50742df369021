#include "compression/top_k/cpu/candidates.h"

#include "compression/top_k/cpu/select.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/top_k/cpu/candidates.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/top_k/cpu/collect-inl.h"
#include "compression/top_k/cpu/halves-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Memory is asked this far ahead: 4 KiB.
constexpr size_t kValuesAhead = 1024;

size_t Collect(const float* HWY_RESTRICT values, size_t count, uint32_t bits,
               uint64_t* HWY_RESTRICT words, float* HWY_RESTRICT kept,
               size_t found) {
  const auto ask = [](const float* word)
                       HWY_ATTR { PrefetchWord(word + kValuesAhead); };
  return CollectAll(values, count, bits, ask, words, kept, found);
}

size_t CopyAllBelow(const float* HWY_RESTRICT values, size_t count,
                    uint32_t bits, float* HWY_RESTRICT copy, uint32_t* most) {
  const hn::ScalableTag<int32_t> di;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto last_below = hn::Set(di, static_cast<int32_t>(bits - 1));
  auto largest = hn::Zero(di);
  size_t out = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(df, values + i);
    const auto size = hn::And(hn::BitCast(di, value), magnitude);
    const auto keep = hn::Not(hn::Gt(size, last_below));
    largest = hn::Max(largest, size);
    const size_t below = hn::CountTrue(di, keep);
    StoreFew(df, hn::Compress(value, hn::RebindMask(df, keep)), below,
             copy + out);
    out += below;
  }
  *most = static_cast<uint32_t>(hn::GetLane(hn::MaxOfLanes(di, largest)));
  for (; i < count; ++i) {
    const uint32_t size = MagnitudeBits(values[i]);
    *most = HWY_MAX(*most, size);
    if (size < bits) copy[out++] = values[i];
  }
  return out;
}

void CopyAllBetween(const float* HWY_RESTRICT values, size_t count,
                    uint32_t low, uint32_t high, float* HWY_RESTRICT copy,
                    Between* between) {
  const hn::ScalableTag<int32_t> di;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto below = hn::Set(di, static_cast<int32_t>(low - 1));
  const auto last = hn::Set(di, static_cast<int32_t>(high - 1));
  size_t copied = 0;
  size_t above = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(df, values + i);
    const auto size = hn::And(hn::BitCast(di, value), magnitude);
    const auto exceeds = hn::Gt(size, last);
    const auto keep = hn::AndNot(exceeds, hn::Gt(size, below));
    const size_t some = hn::CountTrue(di, keep);
    StoreFew(df, hn::Compress(value, hn::RebindMask(df, keep)), some,
             copy + copied);
    copied += some;
    above += hn::CountTrue(di, exceeds);
  }
  for (; i < count; ++i) {
    const uint32_t size = MagnitudeBits(values[i]);
    above += size >= high ? 1 : 0;
    if (size >= low && size < high) copy[copied++] = values[i];
  }
  between->copied = copied;
  between->above = above;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(Collect);
HWY_EXPORT(CopyAllBelow);
HWY_EXPORT(CopyAllBetween);

size_t CollectCandidates(std::span<const float> values, uint32_t bits,
                         size_t word, size_t found, const Candidates& to) {
  return HWY_DYNAMIC_DISPATCH(Collect)(values.data(), values.size(), bits,
                                       to.words + word, to.values, found);
}

size_t CopyBelow(std::span<const float> values, uint32_t bits, float* below,
                 bool& finite) {
  uint32_t most = 0;
  const size_t copied = HWY_DYNAMIC_DISPATCH(CopyAllBelow)(
      values.data(), values.size(), bits, below, &most);
  if (most >= kInfinityBits) finite = false;
  return copied;
}

Between CopyBetween(std::span<const float> values, uint32_t low, uint32_t high,
                    float* between) {
  Between found;
  HWY_DYNAMIC_DISPATCH(CopyAllBetween)
  (values.data(), values.size(), low, high, between, &found);
  return found;
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
