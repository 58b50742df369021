#include "model/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/attention.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// After highway.h, once for each target.
#include "model/cpu/exp-inl.h"
#include "model/cpu/small_gemm-inl.h"

#ifndef SKERRY_MODEL_CPU_ATTENTION_TILES_
#define SKERRY_MODEL_CPU_ATTENTION_TILES_
namespace skerry::model::cpu {
namespace {

// Queries whose scores are held at a time. Small, so that little is computed
// above the diagonal of a short sequence.
constexpr size_t kBlock = 16;
// Rows of scratch are padded to this many floats, the widest vector's lanes.
constexpr size_t kPad = 16;

size_t Padded(size_t n) { return (n + kPad - 1) / kPad * kPad; }

// Hands out rows of the scratch one after the other.
struct Arena {
  float* next;
  float* Take(size_t floats) {
    float* taken = next;
    next += floats;
    return taken;
  }
};

// Rows that kernels may read in whole vectors.
struct Rows {
  const float* data;
  size_t stride;
};

// `from` itself where its rows fill whole vectors, else a copy in `to` with
// zeros behind each row.
Rows PadRows(size_t columns, size_t size, size_t padded, size_t stride,
             const float* from, float* to) {
  if (size == padded) return {from, stride};
  for (size_t t = 0; t < columns; ++t) {
    std::memcpy(to + t * padded, from + t * stride, size * sizeof(float));
    std::fill(to + t * padded + size, to + (t + 1) * padded, 0.0f);
  }
  return {to, padded};
}

// to[i][t] = from[t][i]; zeros behind the last token.
void PackTransposed(size_t columns, size_t size, size_t padded_columns,
                    size_t stride, const float* from, float* to) {
  for (size_t i = 0; i < size; ++i) {
    float* row = to + i * padded_columns;
    for (size_t t = 0; t < columns; ++t) row[t] = from[t * stride + i];
    std::fill(row + columns, row + padded_columns, 0.0f);
  }
}

void UnpackRows(size_t columns, size_t size, size_t padded, size_t stride,
                const float* from, float* to) {
  for (size_t t = 0; t < columns; ++t) {
    std::memcpy(to + t * stride, from + t * padded, size * sizeof(float));
  }
}

}  // namespace
}  // namespace skerry::model::cpu
#endif  // SKERRY_MODEL_CPU_ATTENTION_TILES_

HWY_BEFORE_NAMESPACE();
namespace skerry::model::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using Wide = hn::ScalableTag<float>;

// Turns one row of raw scores into exp(scale * score - shift) for the first
// `valid` entries and zeros up to `padded`; returns the sum.
HWY_INLINE float Exponentiate(size_t valid, size_t padded, float scale,
                              float shift, float* HWY_RESTRICT row) {
  const Wide d;
  std::fill(row + valid, row + padded, 0.0f);
  auto sum = hn::Zero(d);
  const auto limit = hn::Set(d, static_cast<float>(valid));
  for (size_t i = 0; i < valid; i += hn::Lanes(d)) {
    const auto e = FastExp(d, hn::MulSub(hn::LoadU(d, row + i),
                                         hn::Set(d, scale), hn::Set(d, shift)));
    const auto inside = hn::Lt(hn::Iota(d, static_cast<float>(i)), limit);
    const auto kept = hn::IfThenElseZero(inside, e);
    hn::StoreU(kept, d, row + i);
    sum = hn::Add(sum, kept);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

HWY_INLINE float LargestOf(size_t valid, const float* HWY_RESTRICT row) {
  const Wide d;
  const size_t lanes = hn::Lanes(d);
  float largest = row[0];
  size_t i = 0;
  if (valid >= lanes) {
    auto max = hn::LoadU(d, row);
    for (; i + lanes <= valid; i += lanes) {
      max = hn::Max(max, hn::LoadU(d, row + i));
    }
    largest = hn::GetLane(hn::MaxOfLanes(d, max));
  }
  for (; i < valid; ++i) largest = std::max(largest, row[i]);
  return largest;
}

HWY_INLINE float Dot(size_t count, const float* HWY_RESTRICT a,
                     const float* HWY_RESTRICT b) {
  const Wide d;
  const size_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    sum = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sum);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < count; ++i) total += a[i] * b[i];
  return total;
}

HWY_INLINE void ScaleRow(size_t count, float factor, float* HWY_RESTRICT row) {
  const Wide d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + i), hn::Set(d, factor)), d, row + i);
  }
}

// d(score) = scale * p * (dp - delta), in place of dp.
HWY_INLINE void ScoreGradient(size_t padded, float scale, float delta,
                              const float* HWY_RESTRICT p,
                              float* HWY_RESTRICT dp) {
  const Wide d;
  for (size_t i = 0; i < padded; i += hn::Lanes(d)) {
    const auto scaled = hn::Mul(hn::LoadU(d, p + i), hn::Set(d, scale));
    const auto centred = hn::Sub(hn::LoadU(d, dp + i), hn::Set(d, delta));
    hn::StoreU(hn::Mul(scaled, centred), d, dp + i);
  }
}

// The key and value head, packed once for the whole group.
struct PackedForward {
  float* key_t;
  Rows v;
  float* scores;
  float* result;
};

void ForwardHead(const AttentionShape& shape, const PackedForward& packed,
                 const float* query, float* out, float* log_sum) {
  const size_t columns = static_cast<size_t>(shape.columns);
  const size_t size = static_cast<size_t>(shape.head_size);
  const size_t width = Padded(size);
  const size_t span = Padded(columns);
  float* scores = packed.scores;
  float* result = packed.result;
  for (size_t begin = 0; begin < columns; begin += kBlock) {
    const size_t rows = std::min(kBlock, columns - begin);
    const size_t seen = begin + rows;
    const size_t padded = Padded(seen);
    MultiplySmall<false>(
        {query + begin * shape.query_stride, shape.query_stride, 1,
         packed.key_t, span, scores, span},
        rows, padded, size);
    float inverse[kBlock];
    for (size_t r = 0; r < rows; ++r) {
      float* row = scores + r * span;
      const size_t valid = begin + r + 1;
      // A negative scale would turn the order round; configs have none.
      const float shift = shape.scale * LargestOf(valid, row);
      const float sum = Exponentiate(valid, padded, shape.scale, shift, row);
      inverse[r] = 1 / sum;
      log_sum[begin + r] = shift + std::log(sum);
    }
    MultiplySmall<false>(
        {scores, span, 1, packed.v.data, packed.v.stride, result, width}, rows,
        width, seen);
    for (size_t r = 0; r < rows; ++r) {
      ScaleRow(width, inverse[r], result + r * width);
    }
    UnpackRows(rows, size, width, shape.out_stride, result,
               out + begin * shape.out_stride);
  }
}

void Forward(const AttentionShape& shape, const float* query, const float* key,
             const float* value, float* out, float* log_sum, float* scratch) {
  const size_t columns = static_cast<size_t>(shape.columns);
  const size_t size = static_cast<size_t>(shape.head_size);
  const size_t width = Padded(size);
  const size_t span = Padded(columns);
  Arena arena{scratch};
  PackedForward packed;
  packed.key_t = arena.Take(size * span);
  packed.scores = arena.Take(kBlock * span);
  packed.result = arena.Take(kBlock * width);
  PackTransposed(columns, size, span, shape.key_stride, key, packed.key_t);
  packed.v = PadRows(columns, size, width, shape.key_stride, value,
                     arena.Take(columns * width));
  for (int head = 0; head < shape.group; ++head) {
    ForwardHead(shape, packed, query + head * size, out + head * size,
                log_sum + head * columns);
  }
}

// The inputs of backward, packed, and the sums it makes.
struct Packed {
  float* key_t;
  float* value_t;
  float* padded_q;  // room for a head's queries and output gradients
  float* padded_dout;
  Rows k;
  float* dk;
  float* dv;
  float* p;
  float* ds;
  float* dq;
};

HWY_INLINE Packed Pack(const AttentionShape& shape, const float* key,
                       const float* value, float* scratch) {
  const size_t columns = static_cast<size_t>(shape.columns);
  const size_t size = static_cast<size_t>(shape.head_size);
  const size_t width = Padded(size);
  const size_t span = Padded(columns);
  Arena arena{scratch};
  Packed packed;
  packed.key_t = arena.Take(size * span);
  packed.value_t = arena.Take(size * span);
  packed.padded_q = arena.Take(columns * width);
  packed.padded_dout = arena.Take(columns * width);
  packed.k = PadRows(columns, size, width, shape.key_stride, key,
                     arena.Take(columns * width));
  packed.dk = arena.Take(columns * width);
  packed.dv = arena.Take(columns * width);
  packed.p = arena.Take(kBlock * span);
  packed.ds = arena.Take(kBlock * span);
  packed.dq = arena.Take(kBlock * width);
  PackTransposed(columns, size, span, shape.key_stride, key, packed.key_t);
  PackTransposed(columns, size, span, shape.key_stride, value, packed.value_t);
  std::fill(packed.dk, packed.dk + 2 * columns * width, 0.0f);
  return packed;
}

void BackwardHead(const AttentionShape& shape, const Packed& packed,
                  const float* query, const float* out, const float* log_sum,
                  const float* dout, float* dquery) {
  const size_t columns = static_cast<size_t>(shape.columns);
  const size_t size = static_cast<size_t>(shape.head_size);
  const size_t width = Padded(size);
  const size_t span = Padded(columns);
  const Rows all_q =
      PadRows(columns, size, width, shape.query_stride, query, packed.padded_q);
  const Rows all_dout =
      PadRows(columns, size, width, shape.out_stride, dout, packed.padded_dout);
  for (size_t begin = 0; begin < columns; begin += kBlock) {
    const size_t rows = std::min(kBlock, columns - begin);
    const size_t seen = begin + rows;
    const size_t padded = Padded(seen);
    const Rows q = {all_q.data + begin * all_q.stride, all_q.stride};
    const Rows g = {all_dout.data + begin * all_dout.stride, all_dout.stride};
    MultiplySmall<false>(
        {q.data, q.stride, 1, packed.key_t, span, packed.p, span}, rows, padded,
        size);
    MultiplySmall<false>(
        {g.data, g.stride, 1, packed.value_t, span, packed.ds, span}, rows,
        padded, size);
    for (size_t r = 0; r < rows; ++r) {
      // sum_s p dp = dout . out, the same number in one row's work.
      const float delta = Dot(size, g.data + r * g.stride,
                              out + (begin + r) * shape.out_stride);
      float* p = packed.p + r * span;
      Exponentiate(begin + r + 1, padded, shape.scale, log_sum[begin + r], p);
      ScoreGradient(padded, shape.scale, delta, p, packed.ds + r * span);
    }
    MultiplySmall<false>(
        {packed.ds, span, 1, packed.k.data, packed.k.stride, packed.dq, width},
        rows, width, seen);
    UnpackRows(rows, size, width, shape.query_stride, packed.dq,
               dquery + begin * shape.query_stride);
    MultiplySmall<true>({packed.p, 1, span, g.data, g.stride, packed.dv, width},
                        seen, width, rows);
    MultiplySmall<true>(
        {packed.ds, 1, span, q.data, q.stride, packed.dk, width}, seen, width,
        rows);
  }
}

void Backward(const AttentionShape& shape, const float* query, const float* key,
              const float* value, const float* out, const float* log_sum,
              const float* dout, const AttentionGradients& gradients,
              float* scratch) {
  const size_t columns = static_cast<size_t>(shape.columns);
  const size_t size = static_cast<size_t>(shape.head_size);
  const size_t width = Padded(size);
  const Packed packed = Pack(shape, key, value, scratch);
  for (int head = 0; head < shape.group; ++head) {
    const size_t at = head * size;
    BackwardHead(shape, packed, query + at, out + at, log_sum + head * columns,
                 dout + at, gradients.query + at);
  }
  UnpackRows(columns, size, width, shape.key_stride, packed.dk, gradients.key);
  UnpackRows(columns, size, width, shape.key_stride, packed.dv,
             gradients.value);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::model::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::model::cpu {
HWY_EXPORT(Forward);
HWY_EXPORT(Backward);

size_t AttentionScratchSize(int columns, int head_size) {
  const size_t t = static_cast<size_t>(columns);
  const size_t width = Padded(static_cast<size_t>(head_size));
  // Backward's list; forward needs less.
  return 2 * width * Padded(t) + 5 * t * width + 2 * kBlock * Padded(t) +
         kBlock * width;
}

void AttentionForward(const AttentionShape& shape, const float* query,
                      const float* key, const float* value, float* out,
                      float* log_sum, std::span<float> scratch) {
  SKERRY_CHECK(scratch.size() >=
               AttentionScratchSize(shape.columns, shape.head_size));
  HWY_DYNAMIC_DISPATCH(Forward)
  (shape, query, key, value, out, log_sum, scratch.data());
}

void AttentionBackward(const AttentionShape& shape, const float* query,
                       const float* key, const float* value, const float* out,
                       const float* log_sum, const float* dout,
                       const AttentionGradients& gradients,
                       std::span<float> scratch) {
  SKERRY_CHECK(scratch.size() >=
               AttentionScratchSize(shape.columns, shape.head_size));
  HWY_DYNAMIC_DISPATCH(Backward)
  (shape, query, key, value, out, log_sum, dout, gradients, scratch.data());
}

}  // namespace skerry::model::cpu
#endif  // HWY_ONCE
