// compression/cpu/next_chunk-inl.h
//
// Memory asked for while a chunk is worked on in a cache. Included once for
// each SIMD target.
#if defined(SKERRY_COMPRESSION_CPU_NEXT_CHUNK_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_CPU_NEXT_CHUNK_INL_H_
#undef SKERRY_COMPRESSION_CPU_NEXT_CHUNK_INL_H_
#else
#define SKERRY_COMPRESSION_CPU_NEXT_CHUNK_INL_H_
#endif

#include <cstddef>

#include "compression/cpu/select.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// The chunk after one, asked for a few lines at a time, wherever the slice
// ends. A core waits when more lines are under way than it has room for, a few
// tens, and memory idles when none are: so every loop over a chunk asks for
// some, and there are a few more between loops.
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
