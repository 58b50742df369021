#include "compression/cpu/candidates.h"

#include "compression/cpu/select.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/candidates.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
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

// Whole vectors of one run; how many values that are. `found` grows.
HWY_INLINE size_t CollectRun(const float* HWY_RESTRICT values, size_t count,
                             uint32_t bits, uint8_t* HWY_RESTRICT places,
                             float* HWY_RESTRICT kept, size_t& found) {
  const hn::ScalableTag<int32_t> di;
  const hn::RebindToUnsigned<decltype(di)> du;
  const hn::RebindToFloat<decltype(di)> df;
  const hn::Rebind<uint8_t, decltype(di)> d8;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  // As a signed number, 2^31 - 1 is above every magnitude and -1 below.
  const auto below = hn::Set(di, static_cast<int32_t>(bits - 1));
  const auto step = hn::Set(du, static_cast<uint32_t>(lanes));
  auto place = hn::Iota(du, 0);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hwy::Prefetch(values + i + kValuesAhead);
    const auto value = hn::LoadU(df, values + i);
    const auto size = hn::And(hn::BitCast(di, value), magnitude);
    const auto reaches = hn::Gt(size, below);
    // Where compressing is one instruction, it is quicker than a branch that
    // nobody can predict.
    if (kCompresses || !hn::AllFalse(di, reaches)) {
      // Whole vectors are stored: some processors compress to memory slowly.
      hn::StoreU(hn::Compress(value, hn::RebindMask(df, reaches)), df,
                 kept + found);
      hn::StoreU(
          hn::TruncateTo(d8, hn::Compress(place, hn::RebindMask(du, reaches))),
          d8, places + found);
      found += hn::CountTrue(di, reaches);
    }
    place = hn::Add(place, step);
  }
  return i;
}

void CollectAllRuns(const float* HWY_RESTRICT values, size_t count,
                    uint32_t bits, size_t run, const Candidates* to) {
  size_t found = to->ends[run];
  for (size_t begin = 0; begin < count; begin += kRunElements) {
    const size_t size = HWY_MIN(kRunElements, count - begin);
    const float* HWY_RESTRICT mine = values + begin;
    size_t i = CollectRun(mine, size, bits, to->places, to->values, found);
    for (; i < size; ++i) {
      if (MagnitudeBits(mine[i]) < bits) continue;
      to->places[found] = static_cast<uint8_t>(i);
      to->values[found++] = mine[i];
    }
    to->ends[++run] = static_cast<uint32_t>(found);
  }
}

size_t KeepAllOfRuns(const Candidates* from, size_t first, size_t last,
                     uint32_t bits, uint32_t* HWY_RESTRICT places,
                     float* HWY_RESTRICT values) {
  const hn::ScalableTag<int32_t> di;
  const hn::RebindToUnsigned<decltype(di)> du;
  const hn::RebindToFloat<decltype(di)> df;
  const hn::Rebind<uint8_t, decltype(di)> d8;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto below = hn::Set(di, static_cast<int32_t>(bits - 1));
  size_t out = 0;
  size_t at = from->ends[first];
  for (size_t run = first; run < last; ++run) {
    const size_t end = from->ends[run + 1];
    const auto begin = hn::Set(du, static_cast<uint32_t>(run * kRunElements));
    for (; at < end; at += lanes) {
      hwy::Prefetch(from->values + at + kValuesAhead);
      const auto value = hn::LoadU(df, from->values + at);
      const auto place =
          hn::Add(hn::PromoteTo(du, hn::LoadU(d8, from->places + at)), begin);
      const auto size = hn::And(hn::BitCast(di, value), magnitude);
      // Behind the run's last candidate is the next run's first, or anything.
      const auto keep = hn::And(hn::Gt(size, below), hn::FirstN(di, end - at));
      hn::StoreU(hn::Compress(value, hn::RebindMask(df, keep)), df,
                 values + out);
      hn::StoreU(hn::Compress(place, hn::RebindMask(du, keep)), du,
                 places + out);
      out += hn::CountTrue(di, keep);
    }
    at = end;
  }
  return out;
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
    hn::StoreU(hn::Compress(value, hn::RebindMask(df, keep)), df, copy + out);
    out += hn::CountTrue(di, keep);
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

HWY_EXPORT(CollectAllRuns);
HWY_EXPORT(KeepAllOfRuns);
HWY_EXPORT(CopyAllBelow);
HWY_EXPORT(KeepAllBetween);

void CollectRuns(std::span<const float> values, uint32_t bits, size_t run,
                 const Candidates& to) {
  HWY_DYNAMIC_DISPATCH(CollectAllRuns)
  (values.data(), values.size(), bits, run, &to);
}

size_t KeepOfRuns(const Candidates& from, size_t first, size_t last,
                  uint32_t bits, uint32_t* places, float* values) {
  return HWY_DYNAMIC_DISPATCH(KeepAllOfRuns)(&from, first, last, bits, places,
                                             values);
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
