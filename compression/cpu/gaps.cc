#include "compression/cpu/gaps.h"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/gaps.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// Highway has to follow foreach_target.
#include "hwy/highway.h"

#ifndef SKERRY_COMPRESSION_CPU_GAPS_VARINT_
#define SKERRY_COMPRESSION_CPU_GAPS_VARINT_
namespace skerry::compression::cpu {
namespace {

inline size_t VarintBytes(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

inline uint8_t* WriteVarint(uint64_t value, uint8_t* out) {
  for (; value >= 0x80; value >>= 7) {
    *out++ = static_cast<uint8_t>(value | 0x80);
  }
  *out++ = static_cast<uint8_t>(value);
  return out;
}

// Reads one of at most 63 bits; its bytes, or 0 when it does not end there or
// its last byte adds nothing.
inline size_t ReadVarint(const uint8_t* bytes, size_t size, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < size && i < 9; ++i) {
    value |= static_cast<uint64_t>(bytes[i] & 0x7f) << (7 * i);
    if (bytes[i] < 0x80) return bytes[i] != 0 || i == 0 ? i + 1 : 0;
  }
  return 0;
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

// False when one is broken.
bool SumAllGaps(const uint8_t* HWY_RESTRICT bytes, size_t size, uint64_t most,
                GapSums* sums) {
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint64_t, decltype(d8)> d64;
  const size_t lanes = hn::Lanes(d8);
  const auto one_byte = hn::Set(d8, uint8_t{0x7f});
  auto sum = hn::Zero(d64);
  uint64_t longer = 0;
  size_t gaps = 0;
  size_t i = 0;
  while (i < size) {
    if (i + lanes <= size) {
      const auto some = hn::LoadU(d8, bytes + i);
      if (hn::AllFalse(d8, hn::Gt(some, one_byte))) {
        sum = hn::Add(sum, hn::SumsOf8(some));
        gaps += lanes;
        i += lanes;
        continue;
      }
    }
    // Those that begin in what would be the next vector.
    const size_t end = HWY_MIN(i + lanes, size);
    for (; i < end; ++gaps) {
      uint64_t gap;
      const size_t read = ReadVarint(bytes + i, size - i, gap);
      if (read == 0 || gap > most) return false;
      longer += gap;
      if (longer > most) return false;
      i += read;
    }
  }
  sums->gaps = gaps;
  sums->places = hn::GetLane(hn::SumOfLanes(d64, sum)) + longer + gaps;
  return sums->places <= most;
}

constexpr size_t kMany = 8;

// Writes the places behind kMany gaps of one byte each, the first lowest.
HWY_INLINE void ShortPlaces(const uint8_t* HWY_RESTRICT bytes, uint64_t next,
                            uint64_t* HWY_RESTRICT places) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  const hn::CappedTag<uint64_t, kMany> d64;
  const hn::Rebind<uint32_t, decltype(d64)> d32;
  const hn::Rebind<uint16_t, decltype(d64)> d16;
  const hn::Rebind<uint8_t, decltype(d64)> d8;
  constexpr size_t kLanes = hn::MaxLanes(d64);
  for (size_t i = 0; i < kMany; i += kLanes) {
    const auto gaps = hn::PromoteTo(d16, hn::LoadU(d8, bytes + i));
    // What each gap and the place behind it add, summed up to there.
    auto sums = hn::Add(gaps, hn::Set(d16, 1));
    sums = hn::Add(sums, hn::ShiftLeftLanes<1>(d16, sums));
    sums = hn::Add(sums, hn::ShiftLeftLanes<2>(d16, sums));
    if constexpr (kLanes > 4) {
      sums = hn::Add(sums, hn::ShiftLeftLanes<4>(d16, sums));
    }
    const auto wide = hn::PromoteTo(d64, hn::PromoteTo(d32, sums));
    hn::StoreU(hn::Add(wide, hn::Set(d64, next - 1)), d64, places + i);
    if constexpr (kLanes < kMany) next = places[i + kLanes - 1] + 1;
  }
#else
  for (size_t i = 0; i < kMany; ++i) {
    next += bytes[i];
    places[i] = next++;
  }
#endif
}

// Of kMany gaps of one byte each.
HWY_INLINE uint64_t ShortSum(uint64_t word) {
  constexpr uint64_t kEven = 0x00ff00ff00ff00ff;
  const uint64_t pairs = (word & kEven) + (word >> 8 & kEven);
  return pairs * 0x0001000100010001 >> 48;
}

// Where the gaps of `count` places end; null when one is broken.
const uint8_t* ReadAllGaps(const uint8_t* HWY_RESTRICT at, const uint8_t* end,
                           uint64_t most, uint64_t* all_next,
                           uint64_t* HWY_RESTRICT places, size_t count) {
  uint64_t next = *all_next;
  for (size_t i = 0; i < count;) {
    if (end - at >= static_cast<ptrdiff_t>(kMany) && count - i >= kMany) {
      uint64_t word;
      std::memcpy(&word, at, kMany);
      if ((word & 0x8080808080808080) == 0) {
        ShortPlaces(at, next, places + i);
        next += ShortSum(word) + kMany;
        // They ascend, so the last one stands for all.
        if (next > most) return nullptr;
        at += kMany;
        i += kMany;
        continue;
      }
    }
    uint64_t gap;
    const size_t read = ReadVarint(at, static_cast<size_t>(end - at), gap);
    if (read == 0 || next >= most || gap >= most - next) return nullptr;
    at += read;
    places[i] = next + gap;
    next = places[i++] + 1;
  }
  *all_next = next;
  return at;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(AllGapBytes);
HWY_EXPORT(WriteAllGaps);
HWY_EXPORT(SumAllGaps);
HWY_EXPORT(ReadAllGaps);

size_t GapBytes(std::span<const uint32_t> places) {
  return HWY_DYNAMIC_DISPATCH(AllGapBytes)(places.data(), places.size());
}

std::byte* WriteGaps(std::span<const uint32_t> places, std::byte* out) {
  return reinterpret_cast<std::byte*>(HWY_DYNAMIC_DISPATCH(WriteAllGaps)(
      places.data(), places.size(), reinterpret_cast<uint8_t*>(out)));
}

size_t GapBytes(uint64_t gap) { return VarintBytes(gap); }

std::byte* WriteGap(uint64_t gap, std::byte* out) {
  return reinterpret_cast<std::byte*>(
      WriteVarint(gap, reinterpret_cast<uint8_t*>(out)));
}

std::optional<GapSums> SumGaps(std::span<const std::byte> gaps, uint64_t most) {
  GapSums sums;
  if (HWY_DYNAMIC_DISPATCH(SumAllGaps)(
          reinterpret_cast<const uint8_t*>(gaps.data()), gaps.size(), most,
          &sums)) {
    return sums;
  }
  return std::nullopt;
}

bool ReadGaps(std::span<const std::byte>& gaps, uint64_t most, uint64_t& next,
              std::span<uint64_t> places) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(gaps.data());
  const uint8_t* const end = HWY_DYNAMIC_DISPATCH(ReadAllGaps)(
      bytes, bytes + gaps.size(), most, &next, places.data(), places.size());
  if (end == nullptr) return false;
  gaps = gaps.subspan(static_cast<size_t>(end - bytes));
  return true;
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
