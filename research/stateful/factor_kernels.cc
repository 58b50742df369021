#include "research/stateful/factor_kernels.h"

#include <cstddef>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "research/stateful/factor_kernels.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// Highway has to follow foreach_target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kSums = 16;
// Rows whose products are added while a sum is in a register.
constexpr size_t kRowsAtOnce = 4;

using Doubles = hn::CappedTag<double, kSums>;
using Floats = hn::Rebind<float, Doubles>;
using Wide = hn::Vec<Doubles>;

HWY_INLINE Wide LoadWide(const float* from) {
  return hn::PromoteTo(Doubles(), hn::LoadU(Floats(), from));
}
HWY_INLINE Wide LoadWide(const double* from) {
  return hn::LoadU(Doubles(), from);
}

template <typename T>
double DotOf(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, size_t count) {
  const Doubles d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN double sums[kSums] = {};
  size_t i = 0;
  // Each piece of the sums goes through all values before the next does, but
  // for at most four pieces at once, which hide an addition's latency.
  const size_t whole = count / kSums * kSums;
  for (size_t j = 0; j < kSums; j += 4 * lanes) {
    Wide s0 = hn::Zero(d);
    Wide s1 = s0;
    Wide s2 = s0;
    Wide s3 = s0;
    const size_t more = kSums - j;
    for (i = j; i < whole; i += kSums) {
      const auto product = [&](size_t at) HWY_ATTR {
        return hn::Mul(LoadWide(a + i + at), LoadWide(b + i + at));
      };
      s0 = hn::Add(s0, product(0));
      if (more > lanes) s1 = hn::Add(s1, product(lanes));
      if (more > 2 * lanes) s2 = hn::Add(s2, product(2 * lanes));
      if (more > 3 * lanes) s3 = hn::Add(s3, product(3 * lanes));
    }
    hn::Store(s0, d, sums + j);
    if (more > lanes) hn::Store(s1, d, sums + j + lanes);
    if (more > 2 * lanes) hn::Store(s2, d, sums + j + 2 * lanes);
    if (more > 3 * lanes) hn::Store(s3, d, sums + j + 3 * lanes);
  }
  for (i = whole; i < count; ++i) {
    sums[i - whole] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  double sum = 0.0;
  for (const double part : sums) sum += part;
  return sum;
}

double DotFloats(const float* a, const float* b, size_t count) {
  return DotOf(a, b, count);
}
double DotDoubles(const double* a, const double* b, size_t count) {
  return DotOf(a, b, count);
}

// sums[c] += matrix[0][c] factor[0] + .. of kCount rows, one after another.
template <size_t kCount>
HWY_INLINE void AddRows(const float* HWY_RESTRICT matrix, size_t stride,
                        size_t columns, const float* HWY_RESTRICT factor,
                        double* HWY_RESTRICT sums) {
  const Doubles d;
  const size_t lanes = hn::Lanes(d);
  size_t c = 0;
  for (; c + lanes <= columns; c += lanes) {
    Wide sum = hn::LoadU(d, sums + c);
    for (size_t r = 0; r < kCount; ++r) {
      sum = hn::Add(sum, hn::Mul(LoadWide(matrix + r * stride + c),
                                 hn::Set(d, static_cast<double>(factor[r]))));
    }
    hn::StoreU(sum, d, sums + c);
  }
  for (; c < columns; ++c) {
    for (size_t r = 0; r < kCount; ++r) {
      sums[c] += static_cast<double>(matrix[r * stride + c]) *
                 static_cast<double>(factor[r]);
    }
  }
}

void AddAllRows(const Rows& matrix, const float* factor, double* sums) {
  size_t r = 0;
  for (; r + kRowsAtOnce <= matrix.rows; r += kRowsAtOnce) {
    AddRows<kRowsAtOnce>(matrix.values + r * matrix.stride, matrix.stride,
                         matrix.columns, factor + r, sums);
  }
  for (; r < matrix.rows; ++r) {
    AddRows<1>(matrix.values + r * matrix.stride, matrix.stride, matrix.columns,
               factor + r, sums);
  }
}

void CombineRows(const Rows& factors, const float* HWY_RESTRICT weights,
                 size_t stride, float* HWY_RESTRICT out) {
  const Doubles d;
  const Floats f;
  const size_t lanes = hn::Lanes(d);
  size_t c = 0;
  for (; c + lanes <= factors.columns; c += lanes) {
    Wide sum = hn::Zero(d);
    for (size_t k = 0; k < factors.rows; ++k) {
      sum = hn::Add(
          sum, hn::Mul(LoadWide(factors.values + k * factors.stride + c),
                       hn::Set(d, static_cast<double>(weights[k * stride]))));
    }
    hn::StoreU(hn::DemoteTo(f, sum), f, out + c);
  }
  for (; c < factors.columns; ++c) {
    double sum = 0.0;
    for (size_t k = 0; k < factors.rows; ++k) {
      sum += static_cast<double>(factors.values[k * factors.stride + c]) *
             static_cast<double>(weights[k * stride]);
    }
    out[c] = static_cast<float>(sum);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression {

HWY_EXPORT(DotFloats);
HWY_EXPORT(DotDoubles);
HWY_EXPORT(AddAllRows);
HWY_EXPORT(CombineRows);

double Dot(std::span<const float> a, std::span<const float> b) {
  SKERRY_CHECK(a.size() == b.size());
  return HWY_DYNAMIC_DISPATCH(DotFloats)(a.data(), b.data(), a.size());
}

double Dot(std::span<const double> a, std::span<const double> b) {
  SKERRY_CHECK(a.size() == b.size());
  return HWY_DYNAMIC_DISPATCH(DotDoubles)(a.data(), b.data(), a.size());
}

void AddTransposed(const Rows& matrix, const float* factor, double* sums) {
  HWY_DYNAMIC_DISPATCH(AddAllRows)(matrix, factor, sums);
}

void Combine(const Rows& factors, const float* weights, size_t stride,
             float* out) {
  HWY_DYNAMIC_DISPATCH(CombineRows)(factors, weights, stride, out);
}

}  // namespace skerry::compression
#endif  // HWY_ONCE
