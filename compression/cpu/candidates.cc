#include "compression/cpu/candidates.h"

#include "compression/cpu/select.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/candidates.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/cpu/halves-inl.h"
#include "compression/cpu/mask_bits-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Memory is asked this far ahead: 4 KiB.
constexpr size_t kValuesAhead = 1024;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr bool kCompresses = true;
#else
constexpr bool kCompresses = false;
#endif

// Of whole vectors of one word; `found` grows.
HWY_INLINE uint64_t CollectWord(const float* HWY_RESTRICT values, uint32_t bits,
                                float* HWY_RESTRICT kept, size_t& found) {
  const hn::CappedTag<int32_t, kWordValues> di;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  // As a signed number, 2^31 - 1 is above every magnitude and -1 below.
  const auto below = hn::Set(di, static_cast<int32_t>(bits - 1));
  uint64_t word = 0;
  HWY_UNROLL(4)
  for (size_t i = 0; i < kWordValues; i += lanes) {
    hwy::Prefetch(values + i + kValuesAhead);
    const auto value = hn::LoadU(df, values + i);
    const auto size = hn::And(hn::BitCast(di, value), magnitude);
    const auto reaches = hn::Gt(size, below);
    word |= MaskBits(di, reaches) << i;
    // Where compressing is one instruction, it is quicker than a branch that
    // nobody can predict.
    if (kCompresses || !hn::AllFalse(di, reaches)) {
      const size_t count = hn::CountTrue(di, reaches);
      // Some processors compress to memory slowly.
      StoreFew(df, hn::Compress(value, hn::RebindMask(df, reaches)), count,
               kept + found);
      found += count;
    }
  }
  return word;
}

size_t CollectAll(const float* HWY_RESTRICT values, size_t count, uint32_t bits,
                  uint64_t* HWY_RESTRICT words, float* HWY_RESTRICT kept,
                  size_t found) {
  for (; count >= kWordValues; count -= kWordValues) {
    *words++ = CollectWord(values, bits, kept, found);
    values += kWordValues;
  }
  if (count == 0) return found;
  uint64_t word = 0;
  for (size_t i = 0; i < count; ++i) {
    if (MagnitudeBits(values[i]) < bits) continue;
    word |= uint64_t{1} << i;
    kept[found++] = values[i];
  }
  *words = word;
  return found;
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

size_t KeepAllBetween(float* values, size_t count, uint32_t low,
                      uint32_t high) {
  const hn::ScalableTag<int32_t> di;
  const hn::RebindToFloat<decltype(di)> df;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto below = hn::Set(di, static_cast<int32_t>(low - 1));
  const auto last = hn::Set(di, static_cast<int32_t>(high - 1));
  size_t out = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(df, values + i);
    const auto size = hn::And(hn::BitCast(di, value), magnitude);
    const auto keep = hn::AndNot(hn::Gt(size, last), hn::Gt(size, below));
    // Behind what is read already, as no more is written than was read.
    hn::StoreU(hn::Compress(value, hn::RebindMask(df, keep)), df, values + out);
    out += hn::CountTrue(di, keep);
  }
  for (; i < count; ++i) {
    const uint32_t size = MagnitudeBits(values[i]);
    if (size >= low && size < high) values[out++] = values[i];
  }
  return out;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(CollectAll);
HWY_EXPORT(CopyAllBelow);
HWY_EXPORT(KeepAllBetween);

size_t CollectCandidates(std::span<const float> values, uint32_t bits,
                         size_t word, size_t found, const Candidates& to) {
  return HWY_DYNAMIC_DISPATCH(CollectAll)(values.data(), values.size(), bits,
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

size_t KeepBetween(std::span<float> values, uint32_t low, uint32_t high) {
  return HWY_DYNAMIC_DISPATCH(KeepAllBetween)(values.data(), values.size(), low,
                                              high);
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
