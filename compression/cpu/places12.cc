#include "compression/cpu/places12.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/places12.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// Highway has to follow foreach_target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other files have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Packs the first places, an even number of them, as long as whole vectors do
// not reach behind `bytes`; returns how many.
size_t PackMost(const uint32_t* HWY_RESTRICT places, size_t count,
                uint8_t* HWY_RESTRICT out, size_t bytes) {
  size_t i = 0;
#if HWY_TARGET == HWY_AVX3_DL
  using D8 = hn::Full512<uint8_t>;
  const hn::Full512<uint64_t> d64;
  const hn::Half<D8> half;
  // The three bytes of each two places.
  const auto used = hn::MFromD<D8>{0x0707070707070707u};
  for (; i + 16 <= count && i / 2 * 3 + 32 <= bytes; i += 16) {
    const auto two =
        hn::BitCast(d64, hn::LoadU(hn::Full512<uint32_t>(), places + i));
    const auto both = hn::Or(two, hn::ShiftRight<20>(two));
    const auto packed = hn::Compress(hn::BitCast(D8(), both), used);
    hn::StoreU(hn::LowerHalf(half, packed), half, out + i / 2 * 3);
  }
#elif HWY_TARGET != HWY_SCALAR
  const hn::Full128<uint64_t> d64;
  const hn::Full128<uint8_t> d8;
  constexpr uint8_t kNone = 0x80;
  HWY_ALIGN static constexpr uint8_t kUsed[16] = {
      0,     1,     2,     8,     9,     10,    kNone, kNone,
      kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone};
  const auto used = hn::Load(d8, kUsed);
  for (; i + 4 <= count && i / 2 * 3 + 16 <= bytes; i += 4) {
    const auto two =
        hn::BitCast(d64, hn::LoadU(hn::Full128<uint32_t>(), places + i));
    const auto both = hn::Or(two, hn::ShiftRight<20>(two));
    hn::StoreU(hn::TableLookupBytesOr0(hn::BitCast(d8, both), used), d8,
               out + i / 2 * 3);
  }
#endif
  return i;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(PackMost);

void PackPlaces(std::span<const uint32_t> places, std::byte* out) {
  const size_t bytes = (places.size() * 12 + 7) / 8;
  size_t i = HWY_DYNAMIC_DISPATCH(PackMost)(
      places.data(), places.size(), reinterpret_cast<uint8_t*>(out), bytes);
  out += i / 2 * 3;
  for (; i + 2 <= places.size(); i += 2, out += 3) {
    const uint32_t two = places[i] | places[i + 1] << 12;
    out[0] = static_cast<std::byte>(two);
    out[1] = static_cast<std::byte>(two >> 8);
    out[2] = static_cast<std::byte>(two >> 16);
  }
  if (i == places.size()) return;
  out[0] = static_cast<std::byte>(places[i]);
  out[1] = static_cast<std::byte>(places[i] >> 8);
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
