#include "model/cpu/rows.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/cpu/rows.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::model::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

void Sum(size_t count, const float* a, const float* b, float* out) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
  }
  for (; i < count; ++i) out[i] = a[i] + b[i];
}

void SumBias(int rows, int width, const float* x, const float* bias,
             float* out) {
  const size_t n = static_cast<size_t>(width);
  for (int r = 0; r < rows; ++r) Sum(n, x + n * r, bias, out + n * r);
}

// Blocks of columns stay in registers while the rows pass by.
void ColumnSums(int rows, int width, int begin, int end, const float* x,
                float* sums) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const size_t n = static_cast<size_t>(width);
  const size_t last = static_cast<size_t>(end);
  size_t i = static_cast<size_t>(begin);
  for (; i + 4 * lanes <= last; i += 4 * lanes) {
    auto s0 = hn::Zero(d);
    auto s1 = hn::Zero(d);
    auto s2 = hn::Zero(d);
    auto s3 = hn::Zero(d);
    const float* row = x + i;
    for (int r = 0; r < rows; ++r, row += n) {
      s0 = hn::Add(s0, hn::LoadU(d, row));
      s1 = hn::Add(s1, hn::LoadU(d, row + lanes));
      s2 = hn::Add(s2, hn::LoadU(d, row + 2 * lanes));
      s3 = hn::Add(s3, hn::LoadU(d, row + 3 * lanes));
    }
    float* out = sums + i;
    hn::StoreU(hn::Add(s0, hn::LoadU(d, out)), d, out);
    hn::StoreU(hn::Add(s1, hn::LoadU(d, out + lanes)), d, out + lanes);
    hn::StoreU(hn::Add(s2, hn::LoadU(d, out + 2 * lanes)), d, out + 2 * lanes);
    hn::StoreU(hn::Add(s3, hn::LoadU(d, out + 3 * lanes)), d, out + 3 * lanes);
  }
  for (; i + lanes <= last; i += lanes) {
    auto sum = hn::Zero(d);
    for (int r = 0; r < rows; ++r) {
      sum = hn::Add(sum, hn::LoadU(d, x + n * r + i));
    }
    hn::StoreU(hn::Add(sum, hn::LoadU(d, sums + i)), d, sums + i);
  }
  for (; i < last; ++i) {
    float sum = 0;
    for (int r = 0; r < rows; ++r) sum += x[n * r + i];
    sums[i] += sum;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::model::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::model::cpu {
HWY_EXPORT(Sum);
HWY_EXPORT(SumBias);
HWY_EXPORT(ColumnSums);

void FillRows(int rows, int width, const float* bias, float* out) {
  const size_t n = static_cast<size_t>(width);
  for (int r = 0; r < rows; ++r) {
    std::memcpy(out + n * r, bias, n * sizeof(float));
  }
}

void AddBias(int rows, int width, const float* x, const float* bias,
             float* out) {
  HWY_DYNAMIC_DISPATCH(SumBias)(rows, width, x, bias, out);
}

void Add(size_t count, const float* a, const float* b, float* out) {
  HWY_DYNAMIC_DISPATCH(Sum)(count, a, b, out);
}

void AddColumnSums(int rows, int width, int begin, int end, const float* x,
                   float* sums) {
  HWY_DYNAMIC_DISPATCH(ColumnSums)(rows, width, begin, end, x, sums);
}

}  // namespace skerry::model::cpu
#endif  // HWY_ONCE
