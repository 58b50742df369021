// compression/dense/cpu/runs-inl.h
//
// Walks over runs of whole blocks for blocks-inl.h. Each run is one call of a
// Body. Included once for each SIMD target.
#if defined(SKERRY_COMPRESSION_DENSE_CPU_RUNS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_DENSE_CPU_RUNS_INL_H_
#undef SKERRY_COMPRESSION_DENSE_CPU_RUNS_INL_H_
#else
#define SKERRY_COMPRESSION_DENSE_CPU_RUNS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "compression/dense/cpu/pages.h"
#include "compression/dense/cpu/puts-inl.h"
#include "compression/dense/cpu/tiles-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// How far an encoder may ask memory ahead: 4 KiB.
constexpr size_t kValuesAhead = 1024;

// Encodes runs of whole blocks. A lambda would be called, as it is in several
// places, not inlined.
template <class Kernels, class Body>
struct Runs {
  static constexpr size_t kRun = Body::kRun;
  static constexpr size_t kValues = kRun * Kernels::kElements;

  // Run `index`, its codes to `to`.
  HWY_INLINE bool operator()(size_t index, std::byte* HWY_RESTRICT to) const {
    const float* const block = values + index * kValues;
    if constexpr (kRun == 1) {
      return body.Encode(Block(index), block, kValues, Ahead(index),
                         Scales(index), to);
    } else {
      return body.EncodeRun(Block(index), block, Ahead(index), Scales(index),
                            to);
    }
  }
  template <class Out>
  HWY_INLINE bool Put(size_t index, std::byte* HWY_RESTRICT to,
                      Out& out) const {
    return body.EncodeTo(values + index * kValues, Ahead(index), Scales(index),
                         to, out);
  }

  HWY_INLINE size_t Block(size_t index) const { return first + index * kRun; }
  HWY_INLINE const float* Ahead(size_t index) const {
    AskPageAhead(values + index * kValues, kValues * sizeof(float));
    const size_t left = (whole - kRun - Block(index)) * Kernels::kElements;
    return values + index * kValues + std::min(kValuesAhead, left);
  }
  HWY_INLINE std::byte* Scales(size_t index) const {
    return scales + Block(index) * Kernels::kScaleBytes;
  }

  const Body& body;
  const float* HWY_RESTRICT values;  // of block `first`
  size_t first;
  size_t whole;  // where whole blocks end
  std::byte* HWY_RESTRICT scales;
};

// Stores the codes of so many runs past the caches; how many it made: 0 where
// it cannot, or kRefused.
template <class Kernels, class Body>
HWY_INLINE size_t EncodeShifted(const Runs<Kernels, Body>& encode, size_t runs,
                                std::byte* HWY_RESTRICT to) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (requires(Shifted & out) {
                  encode.body.EncodeTo(encode.values, encode.values, to, to,
                                       out);
                }) {
    constexpr size_t kCodes = Body::kRun * Kernels::kBlockCodeBytes;
    if (runs == 0 || reinterpret_cast<uintptr_t>(to) % sizeof(uint32_t) != 0) {
      return 0;
    }
    if (!encode(0, to)) return kRefused;
    Shifted shifted(to + kCodes);
    for (size_t run = 1; run < runs; ++run) {
      if (!encode.Put(run, to + run * kCodes, shifted)) return kRefused;
    }
    shifted.Finish();
    return runs;
  }
#endif
  return 0;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
