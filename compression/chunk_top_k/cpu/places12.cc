#include "compression/chunk_top_k/cpu/places12.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/chunk_top_k/cpu/places12.cc"
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

// Unpacks the first places, an even number of them, as long as whole vectors do
// not reach behind `bytes`; returns how many.
size_t UnpackMost(const uint8_t* HWY_RESTRICT in, size_t bytes,
                  uint16_t* HWY_RESTRICT places, size_t count) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Full128<uint8_t> d8;
  const hn::Full128<uint16_t> d16;
  HWY_ALIGN static constexpr uint8_t kBytes[16] = {0, 1, 1, 2, 3, 4,  4,  5,
                                                   6, 7, 7, 8, 9, 10, 10, 11};
  HWY_ALIGN static constexpr uint16_t kUp[8] = {16, 1, 16, 1, 16, 1, 16, 1};
  const auto bytes_of = hn::Load(d8, kBytes);
  const auto up = hn::Load(d16, kUp);
  for (; i + 8 <= count && i / 2 * 3 + 16 <= bytes; i += 8) {
    const auto two =
        hn::TableLookupBytes(hn::LoadU(d8, in + i / 2 * 3), bytes_of);
    // The first of two loses what is above its twelve bits.
    const auto upper = hn::Mul(hn::BitCast(d16, two), up);
    hn::StoreU(hn::ShiftRight<4>(upper), d16, places + i);
  }
#endif
  return i;
}

bool Ascend(const uint16_t* HWY_RESTRICT places, size_t count) {
  const hn::ScalableTag<uint16_t> du;
  const hn::RebindToSigned<decltype(du)> di;
  const size_t lanes = hn::Lanes(du);
  auto least = hn::Set(di, 1);
  size_t i = 1;
  for (; i + lanes <= count; i += lanes) {
    const auto place = hn::BitCast(di, hn::LoadU(du, places + i));
    const auto before = hn::BitCast(di, hn::LoadU(du, places + i - 1));
    least = hn::Min(least, hn::Sub(place, before));
  }
  bool all = hn::AllTrue(di, hn::Gt(least, hn::Zero(di)));
  for (; i < count; ++i) all &= places[i] > places[i - 1];
  return all;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(Ascend);
HWY_EXPORT(PackMost);
HWY_EXPORT(UnpackMost);

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

bool UnpackPlaces(const std::byte* in, std::span<uint16_t> places) {
  const size_t bytes = (places.size() * 12 + 7) / 8;
  size_t i =
      HWY_DYNAMIC_DISPATCH(UnpackMost)(reinterpret_cast<const uint8_t*>(in),
                                       bytes, places.data(), places.size());
  const auto byte = [&](size_t at) {
    return std::to_integer<uint32_t>(in[at]);
  };
  for (; i < places.size(); ++i) {
    const size_t at = i / 2 * 3 + i % 2;
    const uint32_t two = byte(at) | byte(at + 1) << 8;
    places[i] = static_cast<uint16_t>(i % 2 == 0 ? two & 0xfff : two >> 4);
  }
  const bool rest_is_zero = places.size() % 2 == 0 || byte(bytes - 1) >> 4 == 0;
  return rest_is_zero &&
         HWY_DYNAMIC_DISPATCH(Ascend)(places.data(), places.size());
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
