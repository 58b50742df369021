#include "bench/micro/memory_floor.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/micro/memory_floor.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// Highway has to follow foreach_target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::bench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::ScalableTag<uint8_t> kTag;

template <size_t kMix>
void NarrowBy(const uint8_t* HWY_RESTRICT wide, uint8_t* HWY_RESTRICT narrow,
              size_t narrow_bytes) {
  const size_t lanes = hn::Lanes(kTag);
  for (size_t i = 0; i < narrow_bytes; i += lanes) {
    auto all = hn::LoadU(kTag, wide + i * kMix);
    for (size_t k = 1; k < kMix; ++k) {
      all = hn::Xor(all, hn::LoadU(kTag, wide + i * kMix + k * lanes));
    }
    hn::StoreU(all, kTag, narrow + i);
  }
}

template <size_t kMix>
void WidenBy(const uint8_t* HWY_RESTRICT narrow, uint8_t* HWY_RESTRICT wide,
             size_t narrow_bytes) {
  const size_t lanes = hn::Lanes(kTag);
  for (size_t i = 0; i < narrow_bytes; i += lanes) {
    const auto value = hn::LoadU(kTag, narrow + i);
    for (size_t k = 0; k < kMix; ++k) {
      hn::StoreU(value, kTag, wide + i * kMix + k * lanes);
    }
  }
}

template <size_t kMix>
void UpdateBy(const uint8_t* HWY_RESTRICT narrow, uint8_t* HWY_RESTRICT wide,
              size_t narrow_bytes) {
  const size_t lanes = hn::Lanes(kTag);
  for (size_t i = 0; i < narrow_bytes; i += lanes) {
    const auto value = hn::LoadU(kTag, narrow + i);
    for (size_t k = 0; k < kMix; ++k) {
      uint8_t* at = wide + i * kMix + k * lanes;
      hn::StoreU(hn::Xor(hn::LoadU(kTag, at), value), kTag, at);
    }
  }
}

void Narrow(size_t mix, const uint8_t* wide, uint8_t* narrow, size_t bytes) {
  if (mix == 1) return NarrowBy<1>(wide, narrow, bytes);
  if (mix == 2) return NarrowBy<2>(wide, narrow, bytes);
  NarrowBy<4>(wide, narrow, bytes);
}

void Widen(size_t mix, const uint8_t* narrow, uint8_t* wide, size_t bytes) {
  if (mix == 1) return WidenBy<1>(narrow, wide, bytes);
  if (mix == 2) return WidenBy<2>(narrow, wide, bytes);
  WidenBy<4>(narrow, wide, bytes);
}

void Update(size_t mix, const uint8_t* narrow, uint8_t* wide, size_t bytes) {
  if (mix == 1) return UpdateBy<1>(narrow, wide, bytes);
  if (mix == 2) return UpdateBy<2>(narrow, wide, bytes);
  UpdateBy<4>(narrow, wide, bytes);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::bench {

HWY_EXPORT(Narrow);
HWY_EXPORT(Widen);
HWY_EXPORT(Update);

namespace {

const uint8_t* Bytes(std::span<const std::byte> bytes) {
  return reinterpret_cast<const uint8_t*>(bytes.data());
}
uint8_t* Bytes(std::span<std::byte> bytes) {
  return reinterpret_cast<uint8_t*>(bytes.data());
}

}  // namespace

void FloorNarrow(Mix mix, std::span<const std::byte> wide,
                 std::span<std::byte> narrow) {
  HWY_DYNAMIC_DISPATCH(Narrow)
  (static_cast<size_t>(mix), Bytes(wide), Bytes(narrow), narrow.size());
}

void FloorWiden(Mix mix, std::span<const std::byte> narrow,
                std::span<std::byte> wide) {
  HWY_DYNAMIC_DISPATCH(Widen)
  (static_cast<size_t>(mix), Bytes(narrow), Bytes(wide), narrow.size());
}

void FloorUpdate(Mix mix, std::span<const std::byte> narrow,
                 std::span<std::byte> wide) {
  HWY_DYNAMIC_DISPATCH(Update)
  (static_cast<size_t>(mix), Bytes(narrow), Bytes(wide), narrow.size());
}

}  // namespace skerry::bench
#endif  // HWY_ONCE
