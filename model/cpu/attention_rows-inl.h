// model/cpu/attention_rows-inl.h
//
// Attention's operations on one row of scores or of sums. Rows that are written
// have room for whole vectors. Included once for each SIMD target, inside its
// namespace rules.
#if defined(SKERRY_MODEL_CPU_ATTENTION_ROWS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_MODEL_CPU_ATTENTION_ROWS_INL_H_
#undef SKERRY_MODEL_CPU_ATTENTION_ROWS_INL_H_
#else
#define SKERRY_MODEL_CPU_ATTENTION_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "model/cpu/attention.h"
#include "model/cpu/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::model::cpu {
namespace HWY_NAMESPACE {
namespace {

// Turns one row of raw scores into exp(scale * score - shift) for the first
// `valid` entries and zeros up to `padded`; returns the sum.
HWY_INLINE float Exponentiate(size_t valid, size_t padded, float scale,
                              float shift, float* HWY_RESTRICT row) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
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
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
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
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
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
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + i), hn::Set(d, factor)), d, row + i);
  }
}

// d(score) = scale * p * (dp - delta), in place of dp.
HWY_INLINE void ScoreGradient(size_t padded, float scale, float delta,
                              const float* HWY_RESTRICT p,
                              float* HWY_RESTRICT dp) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  for (size_t i = 0; i < padded; i += hn::Lanes(d)) {
    const auto scaled = hn::Mul(hn::LoadU(d, p + i), hn::Set(d, scale));
    const auto centred = hn::Sub(hn::LoadU(d, dp + i), hn::Set(d, delta));
    hn::StoreU(hn::Mul(scaled, centred), d, dp + i);
  }
}

// The mask of query head `head` of a group, which all share one if there is
// any.
HWY_INLINE DropoutMask HeadMask(const AttentionShape& shape, int head) {
  DropoutMask mask;
  if (shape.dropout != nullptr) {
    mask = *shape.dropout;
    mask.stream += static_cast<uint32_t>(head);
  }
  return mask;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::model::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target
