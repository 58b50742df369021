// compression/top_k/cpu/mask_bits-inl.h
//
// Turns a vector's mask into bits of a word. Included once for each SIMD
// target.
#if defined(SKERRY_COMPRESSION_TOP_K_CPU_MASK_BITS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_TOP_K_CPU_MASK_BITS_INL_H_
#undef SKERRY_COMPRESSION_TOP_K_CPU_MASK_BITS_INL_H_
#else
#define SKERRY_COMPRESSION_TOP_K_CPU_MASK_BITS_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// Bit i is lane i's. Requires: 64 lanes at most.
template <class D, class M>
HWY_INLINE uint64_t MaskBits(D d, M mask) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return static_cast<uint64_t>(mask.raw);
#else
  uint8_t some[8] = {};
  hwy::HWY_NAMESPACE::StoreMaskBits(d, mask, some);
  uint64_t bits;
  std::memcpy(&bits, some, sizeof(bits));
  return bits;
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
