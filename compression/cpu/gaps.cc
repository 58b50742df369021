#include "compression/cpu/gaps.h"

#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/gaps.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// Highway has to follow foreach_target.
#include "hwy/highway.h"

#ifndef SKERRY_COMPRESSION_CPU_GAPS_VARINT_
#define SKERRY_COMPRESSION_CPU_GAPS_VARINT_
namespace skerry::compression::cpu {
namespace {

inline size_t VarintBytes(uint32_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

inline uint8_t* WriteVarint(uint32_t value, uint8_t* out) {
  for (; value >= 0x80; value >>= 7) {
    *out++ = static_cast<uint8_t>(value | 0x80);
  }
  *out++ = static_cast<uint8_t>(value);
  return out;
}

}  // namespace
}  // namespace skerry::compression::cpu
#endif  // SKERRY_COMPRESSION_CPU_GAPS_VARINT_

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other files have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Of places[i] .. and those before.
template <class D>
HWY_INLINE auto GapsAt(D du, const uint32_t* places, size_t i) {
  const auto next = hn::Add(hn::LoadU(du, places + i - 1), hn::Set(du, 1));
  return hn::Sub(hn::LoadU(du, places + i), next);
}

size_t AllGapBytes(const uint32_t* HWY_RESTRICT places, size_t count) {
  const hn::ScalableTag<uint32_t> du;
  const size_t lanes = hn::Lanes(du);
  const auto one_byte = hn::Set(du, 0x7fu);
  const auto two_bytes = hn::Set(du, 0x3fffu);
  size_t bytes = 0;
  size_t i = 1;
  for (; i + lanes <= count; i += lanes) {
    const auto gaps = GapsAt(du, places, i);
    bytes += lanes + hn::CountTrue(du, hn::Gt(gaps, one_byte));
    if (HWY_UNLIKELY(!hn::AllFalse(du, hn::Gt(gaps, two_bytes)))) {
      bytes += hn::CountTrue(du, hn::Gt(gaps, two_bytes)) +
               hn::CountTrue(du, hn::Gt(gaps, hn::Set(du, 0x1fffffu))) +
               hn::CountTrue(du, hn::Gt(gaps, hn::Set(du, 0xfffffffu)));
    }
  }
  for (; i < count; ++i) bytes += VarintBytes(places[i] - places[i - 1] - 1);
  return bytes;
}

uint8_t* WriteAllGaps(const uint32_t* HWY_RESTRICT places, size_t count,
                      uint8_t* HWY_RESTRICT out) {
  const hn::ScalableTag<uint32_t> du;
  const hn::Rebind<uint8_t, decltype(du)> d8;
  const size_t lanes = hn::Lanes(du);
  const auto one_byte = hn::Set(du, 0x7fu);
  const auto two_bytes = hn::Set(du, 0x3fffu);
  size_t i = 1;
  // Two bytes are written where one counts, so the last place is apart.
  for (; i + lanes < count; i += lanes) {
    const auto gaps = GapsAt(du, places, i);
    if (hn::AllFalse(du, hn::Gt(gaps, one_byte))) {
      hn::StoreU(hn::TruncateTo(d8, gaps), d8, out);
      out += lanes;
    } else if (hn::AllFalse(du, hn::Gt(gaps, two_bytes))) {
      for (size_t j = i; j < i + lanes; ++j) {
        const uint32_t gap = places[j] - places[j - 1] - 1;
        const uint32_t more = gap > 0x7f ? 1 : 0;
        const uint32_t both = (gap & 0x7f) | more << 7 | gap >> 7 << 8;
        out[0] = static_cast<uint8_t>(both);
        out[1] = static_cast<uint8_t>(both >> 8);
        out += 1 + more;
      }
    } else {
      for (size_t j = i; j < i + lanes; ++j) {
        out = WriteVarint(places[j] - places[j - 1] - 1, out);
      }
    }
  }
  for (; i < count; ++i) out = WriteVarint(places[i] - places[i - 1] - 1, out);
  return out;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(AllGapBytes);
HWY_EXPORT(WriteAllGaps);

size_t GapBytes(std::span<const uint32_t> places) {
  return HWY_DYNAMIC_DISPATCH(AllGapBytes)(places.data(), places.size());
}

std::byte* WriteGaps(std::span<const uint32_t> places, std::byte* out) {
  return reinterpret_cast<std::byte*>(HWY_DYNAMIC_DISPATCH(WriteAllGaps)(
      places.data(), places.size(), reinterpret_cast<uint8_t*>(out)));
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
