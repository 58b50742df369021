#include "model/cpu/gemm_bf16_kernel.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

#if defined(__x86_64__)

#include <immintrin.h>

// Highway of Debian 12 has no such instruction.
#define SKERRY_BF16 \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))

// Arrays of vectors are registers only where every index is known.
#if defined(__clang__)
#define SKERRY_UNROLL _Pragma("unroll")
#else
#define SKERRY_UNROLL _Pragma("GCC unroll 16")
#endif

namespace skerry::model::cpu {
namespace {

constexpr size_t kLanes = 16;

__mmask16 FirstLanes(size_t count) {
  return static_cast<__mmask16>((1u << std::min(count, kLanes)) - 1);
}

// 32 floats from `from`, zeros behind the first `count`, as 16 pairs.
SKERRY_BF16 inline __m512i LoadPairs(const float* from, size_t count) {
  const __m512 low = _mm512_maskz_loadu_ps(FirstLanes(count), from);
  if (count <= kLanes) {
    return (__m512i)_mm512_cvtne2ps_pbh(_mm512_setzero_ps(), low);
  }
  const __m512 high =
      _mm512_maskz_loadu_ps(FirstLanes(count - kLanes), from + kLanes);
  return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

// Exchanges rows and columns of 16 x 16 words: by ones, twos, fours, eights.
SKERRY_BF16 inline void Transpose(__m512i (&rows)[kLanes]) {
  __m512i ones[kLanes];
  SKERRY_UNROLL
  for (size_t i = 0; i < kLanes; i += 2) {
    ones[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    ones[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
  __m512i twos[kLanes];
  SKERRY_UNROLL
  for (size_t i = 0; i < kLanes; i += 4) {
    twos[i] = _mm512_unpacklo_epi64(ones[i], ones[i + 2]);
    twos[i + 1] = _mm512_unpackhi_epi64(ones[i], ones[i + 2]);
    twos[i + 2] = _mm512_unpacklo_epi64(ones[i + 1], ones[i + 3]);
    twos[i + 3] = _mm512_unpackhi_epi64(ones[i + 1], ones[i + 3]);
  }
  // Quarter q of twos[4 i + j] has rows 4 i .. 4 i + 3 of column 4 q + j.
  SKERRY_UNROLL
  for (size_t j = 0; j < 4; ++j) {
    const __m512i even_low = _mm512_shuffle_i32x4(twos[j], twos[4 + j], 0x88);
    const __m512i odd_low = _mm512_shuffle_i32x4(twos[j], twos[4 + j], 0xdd);
    const __m512i even_high =
        _mm512_shuffle_i32x4(twos[8 + j], twos[12 + j], 0x88);
    const __m512i odd_high =
        _mm512_shuffle_i32x4(twos[8 + j], twos[12 + j], 0xdd);
    rows[j] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
    rows[4 + j] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
    rows[8 + j] = _mm512_shuffle_i32x4(even_low, even_high, 0xdd);
    rows[12 + j] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xdd);
  }
}

// Up to 16 lanes; `stored` of the words go to the panel.
SKERRY_BF16 void PackGroupAlong(const Bf16Source& from, size_t stored,
                                size_t width, uint32_t* panel) {
  const __mmask16 mask = FirstLanes(stored);
  for (size_t at = 0; at < from.depth; at += 2 * kLanes) {
    const size_t count = std::min(2 * kLanes, from.depth - at);
    __m512i rows[kLanes];
    SKERRY_UNROLL
    for (size_t lane = 0; lane < kLanes; ++lane) {
      rows[lane] = lane < from.lanes
                       ? LoadPairs(from.data + lane * from.stride + at, count)
                       : _mm512_setzero_si512();
    }
    Transpose(rows);
    uint32_t* to = panel + at / 2 * width;
    for (size_t pair = 0; pair < (count + 1) / 2; ++pair) {
      _mm512_mask_storeu_epi32(to + pair * width, mask, rows[pair]);
    }
  }
}

SKERRY_BF16 void PackGroupAcross(const Bf16Source& from, size_t stored,
                                 size_t width, uint32_t* panel) {
  const __m512i interleave = _mm512_set_epi16(
      31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
      6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  const __mmask16 read = FirstLanes(from.lanes);
  const __mmask16 mask = FirstLanes(stored);
  for (size_t at = 0; at < from.depth; at += 2) {
    const float* row = from.data + at * from.stride;
    const __m512 first = _mm512_maskz_loadu_ps(read, row);
    const __m512 second = at + 1 < from.depth
                              ? _mm512_maskz_loadu_ps(read, row + from.stride)
                              : _mm512_setzero_ps();
    const __m512i both = (__m512i)_mm512_cvtne2ps_pbh(second, first);
    _mm512_mask_storeu_epi32(panel + at / 2 * width, mask,
                             _mm512_permutexvar_epi16(interleave, both));
  }
}

SKERRY_BF16 inline void StoreSums(float* c, __mmask16 mask, __m512 sum,
                                  bool adds) {
  if (adds) sum = _mm512_add_ps(_mm512_maskz_loadu_ps(mask, c), sum);
  _mm512_mask_storeu_ps(c, mask, sum);
}

// All sums stay in registers over the depth.
template <size_t kRows>
SKERRY_BF16 void MultiplyRows(const Bf16Tile& tile) {
  __m512 left[kRows];
  __m512 right[kRows];
  SKERRY_UNROLL
  for (size_t r = 0; r < kRows; ++r) left[r] = right[r] = _mm512_setzero_ps();
  const uint32_t* a = tile.a;
  const uint32_t* b = tile.b;
  for (size_t p = 0; p < tile.pairs; ++p) {
    const __m512bh b0 = (__m512bh)_mm512_loadu_si512(b);
    const __m512bh b1 = (__m512bh)_mm512_loadu_si512(b + kLanes);
    SKERRY_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const __m512bh x = (__m512bh)_mm512_set1_epi32(static_cast<int>(a[r]));
      left[r] = _mm512_dpbf16_ps(left[r], x, b0);
      right[r] = _mm512_dpbf16_ps(right[r], x, b1);
    }
    a += kBf16Rows;
    b += kBf16Columns;
  }
  const __mmask16 mask0 = FirstLanes(tile.columns);
  const __mmask16 mask1 =
      FirstLanes(tile.columns > kLanes ? tile.columns - kLanes : 0);
  SKERRY_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    float* c = tile.c + r * tile.c_stride;
    StoreSums(c, mask0, left[r], tile.adds);
    if (mask1 != 0) StoreSums(c + kLanes, mask1, right[r], tile.adds);
  }
}

using MultiplyRowsFunction = void (*)(const Bf16Tile&);

template <size_t... kIndexes>
MultiplyRowsFunction FunctionFor(size_t rows,
                                 std::index_sequence<kIndexes...>) {
  static constexpr MultiplyRowsFunction kFunctions[] = {
      MultiplyRows<kIndexes + 1>...};
  return kFunctions[rows - 1];
}

using PackGroup = void (*)(const Bf16Source&, size_t, size_t, uint32_t*);

// `step` floats lie between two lanes.
void PackGroups(PackGroup pack, const Bf16Source& from, size_t step,
                size_t width, uint32_t* panel) {
  for (size_t lane = 0; lane < width; lane += kLanes) {
    Bf16Source group = from;
    group.lanes = from.lanes > lane ? std::min(kLanes, from.lanes - lane) : 0;
    if (group.lanes > 0) group.data = from.data + lane * step;
    pack(group, std::min(kLanes, width - lane), width, panel + lane);
  }
}

}  // namespace

bool HasBf16Dot() {
  return __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bf16");
}

void PackBf16Along(const Bf16Source& from, size_t width, uint32_t* panel) {
  PackGroups(PackGroupAlong, from, from.stride, width, panel);
}

void PackBf16Across(const Bf16Source& from, size_t width, uint32_t* panel) {
  PackGroups(PackGroupAcross, from, 1, width, panel);
}

void MultiplyBf16Tile(const Bf16Tile& tile) {
  FunctionFor(tile.rows, std::make_index_sequence<kBf16Rows>())(tile);
}

}  // namespace skerry::model::cpu

#else

namespace skerry::model::cpu {

bool HasBf16Dot() { return false; }
void PackBf16Along(const Bf16Source&, size_t, uint32_t*) {
  SKERRY_CHECK(false);
}
void PackBf16Across(const Bf16Source&, size_t, uint32_t*) {
  SKERRY_CHECK(false);
}
void MultiplyBf16Tile(const Bf16Tile&) { SKERRY_CHECK(false); }

}  // namespace skerry::model::cpu

#endif
