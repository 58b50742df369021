#include "model/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "base/check.h"

// Tiles are arrays of vectors, and those of no fixed length cannot be in any.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/attention.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// After highway.h, once for each target.
#include "model/cpu/attention_rows-inl.h"
#include "model/cpu/dropout-inl.h"
#include "model/cpu/small_gemm-inl.h"

#ifndef SKERRY_MODEL_CPU_ATTENTION_TILES_
#define SKERRY_MODEL_CPU_ATTENTION_TILES_
namespace skerry::model::cpu {
namespace {

// Keys that are gone through at a time: their tile, their values' and the
// scores against them stay near the core. Tiles lie one behind the other,
// because rows a power of two apart would fight for one set of the cache.
// Backward holds more for each key.
constexpr size_t kForwardTile = 128;
constexpr size_t kBackwardTile = 64;
// Below every score.
constexpr float kLowest = std::numeric_limits<float>::lowest();
// Queries that a tile on the diagonal takes at a time. Small, so that little is
// computed above the diagonal.
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

  Rows From(size_t row) const { return {data + row * stride, stride}; }
};

// Rows that need not be copied to lie close together.
constexpr size_t kFewRows = 64;

// `from` itself where its rows fill whole vectors and are few, else a copy in
// `to`, one row right behind the other, with zeros to fill the last vector.
Rows PackRows(size_t columns, size_t size, size_t stride, const float* from,
              float* to) {
  const size_t padded = Padded(size);
  if (size == padded && columns <= kFewRows) return {from, stride};
  for (size_t t = 0; t < columns; ++t) {
    std::memcpy(to + t * padded, from + t * stride, size * sizeof(float));
    std::fill(to + t * padded + size, to + (t + 1) * padded, 0.0f);
  }
  return {to, padded};
}

size_t TiledColumns(size_t tile, size_t columns) {
  return (columns + tile - 1) / tile * tile;
}

// Tile j holds tokens [j tile, (j + 1) tile) as to[i][t] = from[t][i], with
// zeros behind the last token.
void PackTiles(size_t tile, size_t columns, size_t size, size_t stride,
               const float* from, float* to) {
  for (size_t begin = 0; begin < columns; begin += tile, to += size * tile) {
    const size_t count = std::min(tile, columns - begin);
    for (size_t i = 0; i < size; ++i) {
      float* row = to + i * tile;
      const float* source = from + begin * stride + i;
      for (size_t t = 0; t < count; ++t) row[t] = source[t * stride];
      std::fill(row + count, row + tile, 0.0f);
    }
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

// Room for the factors of a row of the widest tile.
constexpr size_t kFactors = kForwardTile + kDropoutSlack;

// A block of queries on its way through the tiles of keys.
struct ForwardBlock {
  const float* query;  // of the first row
  size_t span;         // floats from one row of a tile of keys to the next
  size_t begin;        // the first row's token
  size_t rows;
  float* scores;  // kBlock x kForwardTile
  float* result;  // kBlock x the padded head size; sums not yet divided
  float shift[kBlock];
  float sum[kBlock];
  DropoutMask dropout;
};

// Adds what the queries take from the tile of keys that begins at `keys`. The
// sums are those of exp(score - shift) with the largest score so far; when a
// larger one comes they are made smaller (Milakov and Gimelshein 2018).
HWY_INLINE void ForwardTile(const AttentionShape& shape, size_t keys,
                            const float* key_t, const Rows& value,
                            ForwardBlock& block) {
  const size_t size = static_cast<size_t>(shape.head_size);
  const size_t width = Padded(size);
  const size_t seen = std::min(kForwardTile, block.begin + block.rows - keys);
  const size_t padded = Padded(seen);
  MultiplySmall<false>({block.query, shape.query_stride, 1, key_t, block.span,
                        block.scores, kForwardTile},
                       block.rows, padded, size);
  for (size_t r = 0; r < block.rows; ++r) {
    float* row = block.scores + r * kForwardTile;
    const size_t valid = std::min(seen, block.begin + r + 1 - keys);
    // A negative scale would turn the order round; configs have none.
    const float shift =
        std::max(block.shift[r], shape.scale * LargestOf(valid, row));
    if (keys > 0 && shift != block.shift[r]) {
      const float factor = std::exp(block.shift[r] - shift);
      block.sum[r] *= factor;
      ScaleRow(width, factor, block.result + r * width);
    }
    block.shift[r] = shift;
    block.sum[r] += Exponentiate(valid, padded, shape.scale, shift, row);
    if (block.dropout.threshold > 0) {
      float factors[kFactors];
      FillDropoutFactors(block.dropout, block.begin + r, keys, padded, factors);
      MultiplyRow(padded, factors, row);
    }
  }
  MultiplySmall<true>({block.scores, kForwardTile, 1, value.data, value.stride,
                       block.result, width},
                      block.rows, width, seen);
}

void Forward(const AttentionShape& shape, const float* query, const float* key,
             const float* value, float* out, float* log_sum, float* scratch) {
  const size_t columns = static_cast<size_t>(shape.columns);
  const size_t size = static_cast<size_t>(shape.head_size);
  const size_t width = Padded(size);
  Arena arena{scratch};
  float* key_t = arena.Take(TiledColumns(kForwardTile, columns) * size);
  const Rows v = PackRows(columns, size, shape.key_stride, value,
                          arena.Take(columns * width));
  ForwardBlock block;
  block.span = std::min(kForwardTile, Padded(columns));
  PackTiles(block.span, columns, size, shape.key_stride, key, key_t);
  block.scores = arena.Take(kBlock * kForwardTile);
  block.result = arena.Take(kBlock * width);
  for (int head = 0; head < shape.group; ++head) {
    block.dropout = HeadMask(shape, head);
    for (size_t begin = 0; begin < columns; begin += kBlock) {
      block.query = query + begin * shape.query_stride + head * size;
      block.begin = begin;
      block.rows = std::min(kBlock, columns - begin);
      std::fill(block.shift, block.shift + kBlock, kLowest);
      std::fill(block.sum, block.sum + kBlock, 0.0f);
      std::fill(block.result, block.result + kBlock * width, 0.0f);
      for (size_t keys = 0; keys < begin + block.rows; keys += kForwardTile) {
        ForwardTile(shape, keys, key_t + keys * size, v.From(keys), block);
      }
      for (size_t r = 0; r < block.rows; ++r) {
        ScaleRow(width, 1 / block.sum[r], block.result + r * width);
        log_sum[head * columns + begin + r] =
            block.shift[r] + std::log(block.sum[r]);
      }
      UnpackRows(block.rows, size, width, shape.out_stride, block.result,
                 out + begin * shape.out_stride + head * size);
    }
  }
}

// The inputs of backward, packed, and the sums it makes.
struct Packed {
  float* key_t;
  float* value_t;
  Rows k;
  float* dk;
  float* dv;
  Rows q;  // of one query head, as all below
  Rows dout;
  float* dq;
  float* delta;  // dout . out of each query
  float* p;      // kBackwardTile x kBackwardTile
  float* ds;
  float* q_room;  // for the head's rows
  float* dout_room;
  DropoutMask dropout;  // the head's
};

HWY_INLINE Packed Pack(const AttentionShape& shape, const float* key,
                       const float* value, float* scratch) {
  const size_t columns = static_cast<size_t>(shape.columns);
  const size_t size = static_cast<size_t>(shape.head_size);
  const size_t rows = columns * Padded(size);
  Arena arena{scratch};
  Packed packed;
  packed.key_t = arena.Take(TiledColumns(kBackwardTile, columns) * size);
  packed.value_t = arena.Take(TiledColumns(kBackwardTile, columns) * size);
  PackTiles(kBackwardTile, columns, size, shape.key_stride, key, packed.key_t);
  PackTiles(kBackwardTile, columns, size, shape.key_stride, value,
            packed.value_t);
  packed.k = PackRows(columns, size, shape.key_stride, key, arena.Take(rows));
  packed.dk = arena.Take(rows);
  packed.dv = arena.Take(rows);
  std::fill(packed.dk, packed.dk + 2 * rows, 0.0f);
  packed.q_room = arena.Take(rows);
  packed.dout_room = arena.Take(rows);
  packed.dq = arena.Take(rows);
  packed.p = arena.Take(kBackwardTile * kBackwardTile);
  packed.ds = arena.Take(kBackwardTile * kBackwardTile);
  packed.delta = arena.Take(columns);
  return packed;
}

// Goes back through the scores of `rows` queries from `begin` against the keys
// of the tile at `keys`, which they see in part when it is on the diagonal.
HWY_INLINE void BackwardTile(const AttentionShape& shape, const Packed& packed,
                             const float* log_sum, size_t begin, size_t rows,
                             size_t keys) {
  const size_t size = static_cast<size_t>(shape.head_size);
  const size_t width = Padded(size);
  const size_t seen = std::min(kBackwardTile, begin + rows - keys);
  const size_t padded = Padded(seen);
  const Rows q = packed.q.From(begin);
  const Rows g = packed.dout.From(begin);
  const Rows k = packed.k.From(keys);
  MultiplySmall<false>({q.data, q.stride, 1, packed.key_t + keys * size,
                        kBackwardTile, packed.p, kBackwardTile},
                       rows, padded, size);
  MultiplySmall<false>({g.data, g.stride, 1, packed.value_t + keys * size,
                        kBackwardTile, packed.ds, kBackwardTile},
                       rows, padded, size);
  for (size_t r = 0; r < rows; ++r) {
    float* p = packed.p + r * kBackwardTile;
    const size_t valid = std::min(seen, begin + r + 1 - keys);
    float* ds = packed.ds + r * kBackwardTile;
    Exponentiate(valid, padded, shape.scale, log_sum[begin + r], p);
    // A value saw the probability times its factor: the gradient takes the
    // factor on its way to the probability, and the value's is summed with it.
    float factors[kFactors];
    const bool drops = packed.dropout.threshold > 0;
    if (drops) {
      FillDropoutFactors(packed.dropout, begin + r, keys, padded, factors);
      MultiplyRow(padded, factors, ds);
    }
    ScoreGradient(padded, shape.scale, packed.delta[begin + r], p, ds);
    if (drops) MultiplyRow(padded, factors, p);
  }
  MultiplySmall<true>({packed.ds, kBackwardTile, 1, k.data, k.stride,
                       packed.dq + begin * width, width},
                      rows, width, seen);
  MultiplySmall<true>({packed.p, 1, kBackwardTile, g.data, g.stride,
                       packed.dv + keys * width, width},
                      seen, width, rows);
  MultiplySmall<true>({packed.ds, 1, kBackwardTile, q.data, q.stride,
                       packed.dk + keys * width, width},
                      seen, width, rows);
}

void BackwardHead(const AttentionShape& shape, Packed& packed,
                  const float* query, const float* out, const float* log_sum,
                  const float* dout, float* dquery) {
  const size_t columns = static_cast<size_t>(shape.columns);
  const size_t size = static_cast<size_t>(shape.head_size);
  const size_t width = Padded(size);
  packed.q = PackRows(columns, size, shape.query_stride, query, packed.q_room);
  packed.dout =
      PackRows(columns, size, shape.out_stride, dout, packed.dout_room);
  std::fill(packed.dq, packed.dq + columns * width, 0.0f);
  for (size_t t = 0; t < columns; ++t) {
    // sum_s p dp = dout . out, the same number in one row's work.
    packed.delta[t] =
        Dot(size, packed.dout.From(t).data, out + t * shape.out_stride);
  }
  for (size_t keys = 0; keys < columns; keys += kBackwardTile) {
    const size_t below = std::min(columns, keys + kBackwardTile);
    for (size_t begin = keys; begin < below; begin += kBlock) {
      BackwardTile(shape, packed, log_sum, begin,
                   std::min(kBlock, below - begin), keys);
    }
    for (size_t begin = below; begin < columns; begin += kBackwardTile) {
      BackwardTile(shape, packed, log_sum, begin,
                   std::min(kBackwardTile, columns - begin), keys);
    }
  }
  UnpackRows(columns, size, width, shape.query_stride, packed.dq, dquery);
}

void Backward(const AttentionShape& shape, const float* query, const float* key,
              const float* value, const float* out, const float* log_sum,
              const float* dout, const AttentionGradients& gradients,
              float* scratch) {
  const size_t columns = static_cast<size_t>(shape.columns);
  const size_t size = static_cast<size_t>(shape.head_size);
  const size_t width = Padded(size);
  Packed packed = Pack(shape, key, value, scratch);
  for (int head = 0; head < shape.group; ++head) {
    const size_t at = head * size;
    packed.dropout = HeadMask(shape, head);
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
  const size_t size = static_cast<size_t>(head_size);
  const size_t width = Padded(size);
  const size_t forward = TiledColumns(kForwardTile, t) * size + t * width +
                         kBlock * (kForwardTile + width);
  const size_t backward = 2 * TiledColumns(kBackwardTile, t) * size +
                          6 * t * width + 2 * kBackwardTile * kBackwardTile + t;
  return std::max(forward, backward);
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
