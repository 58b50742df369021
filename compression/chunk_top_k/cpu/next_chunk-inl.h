// compression/chunk_top_k/cpu/next_chunk-inl.h
//
// Prefetches the next chunk while a chunk in a cache is worked on. Included
// once for each SIMD target.
#if defined(SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_NEXT_CHUNK_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_NEXT_CHUNK_INL_H_
#undef SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_NEXT_CHUNK_INL_H_
#else
#define SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_NEXT_CHUNK_INL_H_
#endif

#include <cstddef>

#include "compression/top_k/cpu/select.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// Prefetches the chunk after the given one, a few lines at a time, even beyond
// the end of the slice. A core waits if more than a few tens of lines are under
// way, and memory idles if none are. So every loop over a chunk prefetches some
// lines, and a few more are prefetched between loops.
class NextChunk {
 public:
  explicit HWY_INLINE NextChunk(const float* chunk)
      : at_(chunk + kChunkElements), end_(at_ + kChunkElements) {}

  HWY_INLINE void Ask(size_t lines) {
    if (at_ >= end_) return;
    // Into the second-level cache: the first has this chunk.
    for (size_t i = 0; i < lines; ++i) {
      __builtin_prefetch(at_ + i * kLine, /*rw=*/0, /*locality=*/2);
    }
    at_ += lines * kLine;
  }

 private:
  static constexpr size_t kLine = 64 / sizeof(float);

  const float* at_;
  const float* const end_;
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
