// compression/dense/cpu/puts-inl.h
//
// These classes take the vectors that a codec makes, one after another. They
// store them over the old values, add them to those, or store them past the
// caches. Included once for each SIMD target.
#if defined(SKERRY_COMPRESSION_DENSE_CPU_PUTS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_DENSE_CPU_PUTS_INL_H_
#undef SKERRY_COMPRESSION_DENSE_CPU_PUTS_INL_H_
#else
#define SKERRY_COMPRESSION_DENSE_CPU_PUTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// Each has Put(value, tag, at).

struct Overwrite {
  template <class V, class D, typename T>
  HWY_INLINE void Put(V value, D d, T* HWY_RESTRICT at) const {
    hwy::HWY_NAMESPACE::StoreU(value, d, at);
  }
};

struct AddTo {
  template <class V, class D, typename T>
  HWY_INLINE void Put(V value, D d, T* HWY_RESTRICT at) const {
    namespace hn = hwy::HWY_NAMESPACE;
    hn::StoreU(hn::Add(hn::LoadU(d, at), value), d, at);
  }
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// Stores past the caches, to any multiple of 4 bytes. Such a store writes a
// whole vector at a multiple of its size, so it joins the end of one vector and
// the start of the next.
class Shifted {
 public:
  // `next` is where the first vector goes. The 64 bytes before it are of the
  // result too, and made already.
  explicit HWY_INLINE Shifted(void* next)
      : behind_(reinterpret_cast<uintptr_t>(next) / sizeof(uint32_t) % kLanes),
        to_(static_cast<uint32_t*>(next) - behind_),
        held_(hwy::HWY_NAMESPACE::LoadU(Tag(), to_ + behind_ - kLanes)),
        places_(hwy::HWY_NAMESPACE::Iota(
            Tag(), static_cast<uint32_t>(kLanes - behind_))) {}

  template <class V, class D, typename T>
  HWY_INLINE void Put(V value, D, T*) {
    static_assert(sizeof(V) == kLanes * sizeof(uint32_t));
    namespace hn = hwy::HWY_NAMESPACE;
    const auto next = hn::BitCast(Tag(), value);
    const Lanes line{
        _mm512_permutex2var_epi32(held_.raw, places_.raw, next.raw)};
    hn::Stream(line, Tag(), to_);
    to_ += kLanes;
    held_ = next;
  }

  // Other threads may see all after this.
  HWY_INLINE void Finish() {
    alignas(64) uint32_t last[kLanes];
    hwy::HWY_NAMESPACE::Store(held_, Tag(), last);
    std::copy_n(last + kLanes - behind_, behind_, to_);
    hwy::FlushStream();
  }

 private:
  using Tag = hwy::HWY_NAMESPACE::Full512<uint32_t>;
  using Lanes = hwy::HWY_NAMESPACE::VFromD<Tag>;
  static constexpr size_t kLanes = 16;

  size_t behind_;  // lanes of a line before what is held
  uint32_t* to_;   // a line
  Lanes held_;     // the last vector, whose end is not stored
  Lanes places_;   // of a line's lanes in what is held and what follows
};
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
