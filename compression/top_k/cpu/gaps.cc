#include "compression/top_k/cpu/gaps.h"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/top_k/cpu/gaps.cc"
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

// Returns a vector of gaps: each is what lies between one of the places from
// places[i] on and the place before it.
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
  const auto low = hn::Set(d8, uint8_t{0x7f});
  auto ones = hn::Zero(d64);    // of first bytes
  auto higher = hn::Zero(d64);  // of second bytes
  uint64_t longer = 0;
  size_t gaps = 0;
  size_t i = 0;
  while (i < size) {
    if (i > 0 && i + lanes <= size) {
      const auto some = hn::LoadU(d8, bytes + i);
      const auto second = hn::Gt(hn::LoadU(d8, bytes + i - 1), low);
      const auto more = hn::Gt(some, low);
      const auto value = hn::And(some, low);
      // Neither a third byte nor a second one that adds nothing.
      const auto other = hn::Or(more, hn::Eq(some, hn::Zero(d8)));
      if (HWY_LIKELY(hn::AllFalse(d8, hn::And(second, other)))) {
        ones = hn::Add(ones, hn::SumsOf8(hn::IfThenZeroElse(second, value)));
        higher =
            hn::Add(higher, hn::SumsOf8(hn::IfThenElseZero(second, value)));
        gaps += lanes - hn::CountTrue(d8, more);
        i += lanes;
        continue;
      }
    }
    // Those that end in what would be the next vector, or behind it.
    const size_t end = HWY_MIN(i + lanes, size);
    uint64_t summed = 0;
    if (i > 0 && bytes[i - 1] > 0x7f) summed = bytes[--i] & 0x7f;
    for (; i < end; ++gaps) {
      uint64_t gap;
      const size_t read = ReadVarint(bytes + i, size - i, gap);
      if (read == 0 || gap > most) return false;
      longer += gap - summed;
      if (longer > most) return false;
      summed = 0;
      i += read;
    }
  }
  if (size > 0 && bytes[size - 1] > 0x7f) return false;
  sums->gaps = gaps;
  sums->places = hn::GetLane(hn::SumOfLanes(d64, ones)) +
                 (hn::GetLane(hn::SumOfLanes(d64, higher)) << 7) + longer +
                 gaps;
  return sums->places <= most;
}

// Bytes of gaps that are read at once.
constexpr size_t kMany = 8;
constexpr uint64_t kHigh = 0x8080808080808080;

// Whether those that end in a word of kMany bytes, which the first begins in,
// are the shortest of one or two bytes.
HWY_INLINE bool AreShort(uint64_t word) {
  const uint64_t second = (word & kHigh) << 8;
  const uint64_t nonzero = (word & ~kHigh) + ~kHigh;
  return (second & (word | ~nonzero)) == 0;
}

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
using V16 = hn::Vec<hn::Full128<uint16_t>>;

// Each and all before.
HWY_INLINE V16 PrefixSums(V16 sums) {
  const hn::Full128<uint16_t> d16;
  sums = hn::Add(sums, hn::ShiftLeftLanes<1>(d16, sums));
  sums = hn::Add(sums, hn::ShiftLeftLanes<2>(d16, sums));
  return hn::Add(sums, hn::ShiftLeftLanes<4>(d16, sums));
}

// Writes the places behind kMany gaps, of which sums[i] is the sum of the first
// i + 1.
HWY_INLINE void StorePlaces(V16 sums, uint64_t next,
                            uint64_t* HWY_RESTRICT places) {
  const hn::CappedTag<uint64_t, kMany> d64;
  const hn::Rebind<uint32_t, decltype(d64)> d32;
  const hn::Rebind<uint16_t, decltype(d64)> d16;
  uint16_t stored[kMany];
  hn::StoreU(sums, hn::Full128<uint16_t>(), stored);
  for (size_t i = 0; i < kMany; i += hn::MaxLanes(d64)) {
    const auto sum =
        hn::PromoteTo(d64, hn::PromoteTo(d32, hn::LoadU(d16, stored + i)));
    hn::StoreU(hn::Add(sum, hn::Iota(d64, next + i)), d64, places + i);
  }
}
#endif

// Writes the places behind the short gaps that end in a word, the lowest byte
// first, and up to kMany in all; returns what the gaps add up to.
HWY_INLINE uint64_t ShortPlaces(uint64_t word, uint64_t next,
                                uint64_t* HWY_RESTRICT places) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  const hn::Full128<uint16_t> d16;
  const auto bytes =
      hn::PromoteTo(d16, hn::BitCast(hn::Full64<uint8_t>(),
                                     hn::Set(hn::Full64<uint64_t>(), word)));
  if ((word & kHigh) == 0) {
    const auto sums = PrefixSums(bytes);
    StorePlaces(sums, next, places);
    return hn::ExtractLane(sums, kMany - 1);
  }
  const auto low = hn::Set(d16, uint16_t{0x7f});
  const auto before = hn::ShiftLeftLanes<1>(d16, bytes);
  const auto value = hn::And(bytes, low);
  const auto both = hn::Or(hn::ShiftLeft<7>(value), hn::And(before, low));
  const auto ends = hn::Not(hn::Gt(bytes, low));
  // At most four of two bytes: their sum is less than 2^16.
  const auto sums = PrefixSums(hn::IfThenElseZero(
      ends, hn::IfThenElse(hn::Gt(before, low), both, value)));
  StorePlaces(hn::Compress(sums, ends), next, places);
  return hn::ExtractLane(sums, kMany - 1);
#else
  uint64_t sum = 0;
  unsigned shift = 0;
  const size_t ended = kMany - (word >> 63);
  for (size_t i = 0; i < ended; ++i, word >>= 8) {
    sum += (word & 0x7f) << shift;
    shift = (word & 0x80) != 0 ? 7 : 0;
    if (shift == 0) *places++ = next++ + sum;
  }
  return sum;
#endif
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
      if (HWY_LIKELY(AreShort(word))) {
        const size_t ended =
            kMany - static_cast<size_t>(std::popcount(word & kHigh));
        next += ShortPlaces(word, next, places + i) + ended;
        // They ascend, so the last one stands for all.
        if (next > most) return nullptr;
        at += kMany - (word >> 63);
        i += ended;
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
