#include "compression/cpu/candidates.h"

#include "compression/cpu/select.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/candidates.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/cpu/collect-inl.h"
#include "compression/cpu/halves-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Memory is asked this far ahead: 4 KiB.
constexpr size_t kValuesAhead = 1024;

// As CollectAll; copies what is less than `high` of it behind `banded` values
// too. `most` is the largest magnitude that was found.
size_t CollectBanded(const float* HWY_RESTRICT values, size_t count,
                     uint32_t bits, uint32_t high, uint64_t* HWY_RESTRICT words,
                     float* HWY_RESTRICT kept, size_t found,
                     float* HWY_RESTRICT band, size_t* banded, uint32_t* most) {
  const hn::CappedTag<int32_t, kMarkedValues> di;
  const hn::RebindToFloat<decltype(di)> df;
  const auto last = hn::Set(di, static_cast<int32_t>(high - 1));
  auto largest = hn::Zero(di);
  size_t out = *banded;
  const auto also = [&](auto value, auto size, auto reaches) HWY_ATTR {
    largest = hn::Max(largest, hn::IfThenElseZero(reaches, size));
    const auto below = hn::AndNot(hn::Gt(size, last), reaches);
    const size_t some = hn::CountTrue(di, below);
    StoreFew(df, hn::Compress(value, hn::RebindMask(df, below)), some,
             band + out);
    out += some;
  };
  for (; count >= kMarkedValues; count -= kMarkedValues) {
    PrefetchWord(values + kValuesAhead);
    *words++ = CollectWord(values, bits, kept, found, also);
    values += kMarkedValues;
  }
  *most = static_cast<uint32_t>(hn::GetLane(hn::MaxOfLanes(di, largest)));
  if (count > 0) {
    const size_t before = found;
    found = CollectAll(values, count, bits, 0, words, kept, found);
    for (size_t i = before; i < found; ++i) {
      const uint32_t size = MagnitudeBits(kept[i]);
      *most = HWY_MAX(*most, size);
      if (size < high) band[out++] = kept[i];
    }
  }
  *banded = out;
  return found;
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

HWY_EXPORT(CollectBanded);
HWY_EXPORT(CopyAllBetween);

size_t CollectCandidates(std::span<const float> values, uint32_t bits,
                         uint32_t high, size_t word, size_t found,
                         const Candidates& to, Band& band) {
  uint32_t most = 0;
  found = HWY_DYNAMIC_DISPATCH(CollectBanded)(
      values.data(), values.size(), bits, high, to.words + word, to.values,
      found, band.values, &band.count, &most);
  if (most >= kInfinityBits) band.finite = false;
  return found;
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
