#include "model/cpu/attention_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/attention_blocks.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// After highway.h, once for each target.
#include "model/cpu/attention_rows-inl.h"
#include "model/cpu/dropout-inl.h"

#ifndef SKERRY_MODEL_CPU_ATTENTION_BLOCKS_SIZES_
#define SKERRY_MODEL_CPU_ATTENTION_BLOCKS_SIZES_
namespace skerry::model::cpu {
namespace {

// Multiples of the tiles of bf16 products, 14 x 32, and the first of the other
// two, so that a block of queries sees all of a block of keys or ends with it.
// Blocks on the diagonal are computed whole: forward, where a score takes part
// in one product less, smaller ones lose more on the way into the product.
constexpr size_t kKeys = 224;
constexpr size_t kForwardQueries = 56;
constexpr size_t kBackwardQueries = 112;

// The widest vector's lanes.
constexpr size_t kPad = 16;
size_t Padded(size_t n) { return (n + kPad - 1) / kPad * kPad; }

// Scores of queries [query, query + rows) against keys [key, key + seen), in
// rows of kKeys floats.
struct ScoreBlock {
  size_t query;
  size_t rows;
  size_t key;
  size_t seen;
  float scale;
  DropoutMask dropout;
  float* scores;

  float* Row(size_t r) const { return scores + r * kKeys; }
  // Keys that row r sees.
  size_t Valid(size_t r) const { return std::min(seen, query + r + 1 - key); }
};

// What a block of queries has gathered on its way through the keys. By row,
// `shift` is the largest scaled score so far, `sum` adds up exp(score - shift),
// and `result` adds up the values with these weights after dropout.
struct RunningSums {
  float shift[kForwardQueries];
  float sum[kForwardQueries];
  float* result;  // kForwardQueries rows of `width` floats
  size_t width;
};

}  // namespace
}  // namespace skerry::model::cpu
#endif  // SKERRY_MODEL_CPU_ATTENTION_BLOCKS_SIZES_

HWY_BEFORE_NAMESPACE();
namespace skerry::model::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr size_t kFactors = kKeys + kDropoutSlack;

// Turns scores into probabilities that are not yet divided by their sums. Where
// a larger score has come, it scales the sum and the result so far down.
void ForwardRows(const ScoreBlock& block, RunningSums& sums) {
  const size_t padded = Padded(block.seen);
  for (size_t r = 0; r < block.rows; ++r) {
    float* row = block.Row(r);
    const size_t valid = block.Valid(r);
    // A negative scale would turn the order round; configs have none.
    const float shift =
        std::max(sums.shift[r], block.scale * LargestOf(valid, row));
    if (block.key > 0 && shift != sums.shift[r]) {
      const float factor = std::exp(sums.shift[r] - shift);
      sums.sum[r] *= factor;
      ScaleRow(sums.width, factor, sums.result + r * sums.width);
    }
    sums.shift[r] = shift;
    sums.sum[r] += Exponentiate(valid, padded, block.scale, shift, row);
    if (block.dropout.threshold > 0) {
      float factors[kFactors];
      FillDropoutFactors(block.dropout, block.query + r, block.key, padded,
                         factors);
      MultiplyRow(padded, factors, row);
    }
  }
}

void DivideRows(size_t rows, RunningSums& sums) {
  for (size_t r = 0; r < rows; ++r) {
    ScaleRow(sums.width, 1 / sums.sum[r], sums.result + r * sums.width);
  }
}

// Makes scores probabilities, and `ds`, the gradients of what the values were
// multiplied by, those of scores. `log_sum` and `delta` are by token.
void BackwardRows(const ScoreBlock& block, const float* log_sum,
                  const float* delta, float* ds) {
  const size_t padded = Padded(block.seen);
  const bool drops = block.dropout.threshold > 0;
  for (size_t r = 0; r < block.rows; ++r) {
    float* p = block.Row(r);
    float* dp = ds + r * kKeys;
    const size_t token = block.query + r;
    Exponentiate(block.Valid(r), padded, block.scale, log_sum[token], p);
    float factors[kFactors];
    if (drops) {
      FillDropoutFactors(block.dropout, token, block.key, padded, factors);
      MultiplyRow(padded, factors, dp);
    }
    ScoreGradient(padded, block.scale, delta[token], p, dp);
    if (drops) MultiplyRow(padded, factors, p);
  }
}

// delta[t] = dout . out, the same number as the sum over s of p dp.
void FillDeltas(const AttentionShape& shape, const float* dout,
                const float* out, float* delta) {
  for (size_t t = 0; t < static_cast<size_t>(shape.columns); ++t) {
    delta[t] = Dot(static_cast<size_t>(shape.head_size),
                   dout + t * shape.out_stride, out + t * shape.out_stride);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::model::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::model::cpu {
namespace {

HWY_EXPORT(ForwardRows);
HWY_EXPORT(DivideRows);
HWY_EXPORT(BackwardRows);
HWY_EXPORT(FillDeltas);

using enum Transpose;

int Int(size_t n) { return static_cast<int>(n); }

// Rows of a matrix that lie `stride` floats apart.
struct Matrix {
  const float* data;
  size_t stride;

  Matrix From(size_t row) const { return {data + row * stride, stride}; }
};

// C = op(A) op(B), or adds it to C.
void Product(const GemmBackend& gemm, const GemmShape& shape, const Matrix& a,
             const Matrix& b, bool adds, float* c, size_t c_stride) {
  gemm.Multiply(shape, a.data, Int(a.stride), b.data, Int(b.stride),
                adds ? 1.0f : 0.0f, c, Int(c_stride));
}

DropoutMask MaskOfHead(const AttentionShape& shape, size_t head) {
  DropoutMask mask;
  if (shape.dropout != nullptr) {
    mask = *shape.dropout;
    mask.stream += static_cast<uint32_t>(head);
  }
  return mask;
}

void ForwardHead(const GemmBackend& gemm, const AttentionShape& shape,
                 const Matrix& q, const Matrix& k, const Matrix& v,
                 const DropoutMask& dropout, float* out, float* log_sum,
                 float* scratch) {
  const size_t columns = static_cast<size_t>(shape.columns);
  const int size = shape.head_size;
  ScoreBlock block;
  block.scale = shape.scale;
  block.dropout = dropout;
  block.scores = scratch;
  RunningSums sums;
  sums.result = scratch + kForwardQueries * kKeys;
  sums.width = Padded(static_cast<size_t>(size));
  for (size_t begin = 0; begin < columns; begin += kForwardQueries) {
    block.query = begin;
    block.rows = std::min(kForwardQueries, columns - begin);
    const int rows = Int(block.rows);
    const size_t end = begin + block.rows;
    std::fill_n(sums.shift, block.rows, std::numeric_limits<float>::lowest());
    std::fill_n(sums.sum, block.rows, 0.0f);
    std::fill_n(sums.result, block.rows * sums.width, 0.0f);
    for (block.key = 0; block.key < end; block.key += kKeys) {
      block.seen = std::min(kKeys, end - block.key);
      const int seen = Int(block.seen);
      Product(gemm, {kNo, kYes, rows, seen, size}, q.From(begin),
              k.From(block.key), false, block.scores, kKeys);
      HWY_DYNAMIC_DISPATCH(ForwardRows)(block, sums);
      Product(gemm, {kNo, kNo, rows, size, seen}, {block.scores, kKeys},
              v.From(block.key), true, sums.result, sums.width);
    }
    HWY_DYNAMIC_DISPATCH(DivideRows)(block.rows, sums);
    for (size_t r = 0; r < block.rows; ++r) {
      std::memcpy(out + (begin + r) * shape.out_stride,
                  sums.result + r * sums.width,
                  static_cast<size_t>(size) * sizeof(float));
      log_sum[begin + r] = sums.shift[r] + std::log(sums.sum[r]);
    }
  }
}

// One query head on the way back. It adds to the gradients of key and value.
struct HeadBackward {
  Matrix q, k, v, dout;
  const float* log_sum;
  const float* delta;
  AttentionGradients gradients;
};

void BackwardBlock(const GemmBackend& gemm, const AttentionShape& shape,
                   const HeadBackward& head, const ScoreBlock& block,
                   float* ds) {
  const int size = shape.head_size;
  const int rows = Int(block.rows);
  const int seen = Int(block.seen);
  const Matrix q = head.q.From(block.query);
  const Matrix g = head.dout.From(block.query);
  const Matrix k = head.k.From(block.key);
  Product(gemm, {kNo, kYes, rows, seen, size}, q, k, false, block.scores,
          kKeys);
  Product(gemm, {kNo, kYes, rows, seen, size}, g, head.v.From(block.key), false,
          ds, kKeys);
  HWY_DYNAMIC_DISPATCH(BackwardRows)(block, head.log_sum, head.delta, ds);
  const float* p = block.scores;
  Product(gemm, {kNo, kNo, rows, size, seen}, {ds, kKeys}, k, block.key > 0,
          head.gradients.query + block.query * shape.query_stride,
          shape.query_stride);
  const size_t at = block.key * shape.key_stride;
  Product(gemm, {kYes, kNo, seen, size, rows}, {p, kKeys}, g, true,
          head.gradients.value + at, shape.key_stride);
  Product(gemm, {kYes, kNo, seen, size, rows}, {ds, kKeys}, q, true,
          head.gradients.key + at, shape.key_stride);
}

}  // namespace

size_t BlockAttentionScratchSize(int columns, int head_size) {
  const size_t width = Padded(static_cast<size_t>(head_size));
  return std::max(kForwardQueries * (kKeys + width),
                  2 * kBackwardQueries * kKeys + static_cast<size_t>(columns));
}

void BlockAttentionForward(const GemmBackend& gemm, const AttentionShape& shape,
                           const float* query, const float* key,
                           const float* value, float* out, float* log_sum,
                           std::span<float> scratch) {
  SKERRY_CHECK(scratch.size() >=
               BlockAttentionScratchSize(shape.columns, shape.head_size));
  for (size_t head = 0; head < static_cast<size_t>(shape.group); ++head) {
    const size_t at = head * static_cast<size_t>(shape.head_size);
    ForwardHead(
        gemm, shape, {query + at, shape.query_stride}, {key, shape.key_stride},
        {value, shape.key_stride}, MaskOfHead(shape, head), out + at,
        log_sum + head * static_cast<size_t>(shape.columns), scratch.data());
  }
}

void BlockAttentionBackward(const GemmBackend& gemm,
                            const AttentionShape& shape, const float* query,
                            const float* key, const float* value,
                            const float* out, const float* log_sum,
                            const float* dout,
                            const AttentionGradients& gradients,
                            std::span<float> scratch) {
  SKERRY_CHECK(scratch.size() >=
               BlockAttentionScratchSize(shape.columns, shape.head_size));
  const size_t columns = static_cast<size_t>(shape.columns);
  float* const ds = scratch.data() + kBackwardQueries * kKeys;
  float* const delta = ds + kBackwardQueries * kKeys;
  for (size_t t = 0; t < columns; ++t) {
    for (float* row : {gradients.key, gradients.value}) {
      std::fill_n(row + t * shape.key_stride, shape.head_size, 0.0f);
    }
  }
  for (size_t head = 0; head < static_cast<size_t>(shape.group); ++head) {
    const size_t at = head * static_cast<size_t>(shape.head_size);
    HWY_DYNAMIC_DISPATCH(FillDeltas)(shape, dout + at, out + at, delta);
    const HeadBackward one = {
        {query + at, shape.query_stride},
        {key, shape.key_stride},
        {value, shape.key_stride},
        {dout + at, shape.out_stride},
        log_sum + head * columns,
        delta,
        {gradients.query + at, gradients.key, gradients.value}};
    ScoreBlock block;
    block.scale = shape.scale;
    block.dropout = MaskOfHead(shape, head);
    block.scores = scratch.data();
    for (block.key = 0; block.key < columns; block.key += kKeys) {
      for (block.query = block.key; block.query < columns;
           block.query += kBackwardQueries) {
        block.rows = std::min(kBackwardQueries, columns - block.query);
        block.seen = std::min(kKeys, block.query + block.rows - block.key);
        BackwardBlock(gemm, shape, one, block, ds);
      }
    }
  }
}

}  // namespace skerry::model::cpu
#endif  // HWY_ONCE
