// compression/dense/cpu/tiles-inl.h
//
// Makes blocks in a tile, which fits a first-level cache, and stores them from
// there past the caches. Included once for each SIMD target.
#if defined(SKERRY_COMPRESSION_DENSE_CPU_TILES_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_DENSE_CPU_TILES_INL_H_
#undef SKERRY_COMPRESSION_DENSE_CPU_TILES_INL_H_
#else
#define SKERRY_COMPRESSION_DENSE_CPU_TILES_INL_H_
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

// Longer tiles leave memory idle: it is either read or written.
constexpr size_t kTileBytes = 1024;

// What InTiles returns when one() was false.
constexpr size_t kRefused = ~size_t{0};

// Stores blocks of `kBytes` at any multiple of 4 bytes. Stores past the caches
// write whole vectors at multiples of their size. So a tile keeps the rest of
// the tile before, which is less than a vector, in front of its blocks.
template <size_t kBytes>
class Tile {
 public:
  static constexpr size_t kBlocks = kTileBytes / kBytes;
  static_assert(kBlocks > 0);

  explicit HWY_INLINE Tile(float* to) : to_(to) {
    const size_t behind =
        reinterpret_cast<uintptr_t>(to) / sizeof(float) % Lanes();
    ahead_ = behind == 0 ? 0 : Lanes() - behind;
  }

  HWY_INLINE std::byte* Block(size_t index) {
    return reinterpret_cast<std::byte*>(room_ + kEdge) + index * kBytes;
  }

  // All blocks. Other threads may see them after Finish().
  HWY_INLINE void Store() {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::ScalableTag<float> df;
    float* from = room_ + kEdge - held_;
    float* const end = room_ + kEdge + kFloats;
    to_ = std::copy_n(from, ahead_, to_);
    from += ahead_;
    ahead_ = 0;
    for (; from + Lanes() <= end; from += Lanes()) {
      hn::Stream(hn::LoadU(df, from), df, to_);
      to_ += Lanes();
    }
    held_ = static_cast<size_t>(end - from);
    hn::StoreU(hn::LoadU(df, from), df, room_ + kEdge - held_);
  }

  HWY_INLINE void Finish() {
    std::copy_n(room_ + kEdge - held_, held_, to_);
    hwy::FlushStream();
  }

 private:
  static constexpr size_t kFloats = kBlocks * kBytes / sizeof(float);
  // Floats of the longest vector.
  static constexpr size_t kEdge = 64;

  static HWY_INLINE size_t Lanes() {
    return hwy::HWY_NAMESPACE::Lanes(hwy::HWY_NAMESPACE::ScalableTag<float>());
  }

  alignas(64) float room_[kEdge + kFloats + kEdge];
  float* to_;
  size_t ahead_;     // floats before a whole vector may be stored
  size_t held_ = 0;  // floats in front of the blocks
};

// Stores what one(block, its `kBytes` bytes) makes of blocks 0 to `count`, `to`
// onwards. Returns how many it made; the rest, too few for a tile, is left to
// the caller: all where `to` is no multiple of 4 bytes.
template <size_t kBytes, class One>
HWY_INLINE size_t InTiles(size_t count, void* to, const One& one) {
  using Blocks = Tile<kBytes>;
  if (reinterpret_cast<uintptr_t>(to) % sizeof(float) != 0) return 0;
  Blocks tile(static_cast<float*>(to));
  size_t done = 0;
  for (; done + Blocks::kBlocks <= count; done += Blocks::kBlocks) {
    for (size_t i = 0; i < Blocks::kBlocks; ++i) {
      if (!one(done + i, tile.Block(i))) return kRefused;
    }
    tile.Store();
  }
  tile.Finish();
  return done;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
