#include "compression/chunk_top_k/cpu/bins4.h"

#include <cstring>

#include "base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/chunk_top_k/cpu/bins4.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/dense/cpu/fold-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other files have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Sums side by side. Two vectors of them are worked on at once, as each waits
// for its own last addition.
constexpr size_t kSums = 16;  // Folded16
using D64 = hn::CappedTag<double, kSums / 2>;
using D32 = hn::Rebind<float, D64>;
constexpr D64 kD64;
constexpr D32 kD32;
using V64 = hn::Vec<D64>;

HWY_INLINE V64 Wide(const float* value) {
  return hn::PromoteTo(kD64, hn::LoadU(kD32, value));
}

void SumMoments(const float* HWY_RESTRICT values, size_t count, Moments* all) {
  HWY_ALIGN double sums[kSums];
  HWY_ALIGN double squares[kSums];
  const size_t lanes = hn::Lanes(kD64);
  for (size_t j = 0; j < kSums; j += 2 * lanes) {
    V64 sum0 = hn::Zero(kD64);
    V64 sum1 = sum0;
    V64 squares0 = sum0;
    V64 squares1 = sum0;
    for (size_t i = j; i < count; i += kSums) {
      const V64 x = Wide(values + i);
      const V64 y = Wide(values + i + lanes);
      sum0 = hn::Add(sum0, x);
      sum1 = hn::Add(sum1, y);
      // Squares of fp32 are exact, so fused or not, these are the same.
      squares0 = hn::MulAdd(x, x, squares0);
      squares1 = hn::MulAdd(y, y, squares1);
    }
    hn::Store(sum0, kD64, sums + j);
    hn::Store(sum1, kD64, sums + j + lanes);
    hn::Store(squares0, kD64, squares + j);
    hn::Store(squares1, kD64, squares + j + lanes);
  }
  all->sum = Folded16(sums);
  all->squares = Folded16(squares);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// Writes a byte with the code of each of `count` values, and to all[i] the sum
// of the values from edges[i] on. Requires: `count` is a multiple of kSums.
void CodeAndSum(const float* HWY_RESTRICT values, size_t count,
                const float* HWY_RESTRICT edges, uint8_t* HWY_RESTRICT codes,
                double* HWY_RESTRICT all) {
  const hn::Full512<float> df;
  const hn::Full512<uint32_t> du;
  const hn::Full512<double> d64;
  const hn::Full256<float> half;
  const hn::Full128<uint8_t> d8;
  using M64 = hn::MFromD<decltype(d64)>;
  const auto one = hn::Set(du, 1);
  const auto edge1 = hn::Set(df, edges[0]);
  const auto edge2 = hn::Set(df, edges[1]);
  const auto edge3 = hn::Set(df, edges[2]);
  auto low1 = hn::Zero(d64);
  auto low2 = low1;
  auto low3 = low1;
  auto high1 = low1;
  auto high2 = low1;
  auto high3 = low1;
  for (size_t i = 0; i < count; i += kSums) {
    const auto value = hn::LoadU(df, values + i);
    const auto x = hn::PromoteTo(d64, hn::LowerHalf(half, value));
    const auto y = hn::PromoteTo(d64, hn::LoadU(half, values + i + kSums / 2));
    auto code = hn::Zero(du);
    // A comparison of fp32 serves for both halves in float64.
    const auto test = [&](auto edge, auto& low, auto& high) HWY_ATTR {
      const auto is = hn::Ge(value, edge);
      const M64 first{static_cast<__mmask8>(is.raw)};
      const M64 second{static_cast<__mmask8>(_kshiftri_mask16(is.raw, 8))};
      code = hn::IfThenElse(hn::RebindMask(du, is), hn::Add(code, one), code);
      low = hn::IfThenElse(first, hn::Add(low, x), low);
      high = hn::IfThenElse(second, hn::Add(high, y), high);
    };
    test(edge1, low1, high1);
    test(edge2, low2, high2);
    test(edge3, low3, high3);
    hn::StoreU(hn::TruncateTo(d8, code), d8, codes + i);
  }
  HWY_ALIGN double sums[kSums];
  const auto fold = [&](auto low, auto high) HWY_ATTR {
    hn::Store(low, d64, sums);
    hn::Store(high, d64, sums + kSums / 2);
    return Folded16(sums);
  };
  all[0] = fold(low1, high1);
  all[1] = fold(low2, high2);
  all[2] = fold(low3, high3);
}
#else
// Adds each value to the sums of the edges that it reaches.
HWY_INLINE void AddTo(V64 x, V64 edge1, V64 edge2, V64 edge3, V64& from1,
                      V64& from2, V64& from3) {
  from1 = hn::IfThenElse(hn::Ge(x, edge1), hn::Add(from1, x), from1);
  from2 = hn::IfThenElse(hn::Ge(x, edge2), hn::Add(from2, x), from2);
  from3 = hn::IfThenElse(hn::Ge(x, edge3), hn::Add(from3, x), from3);
}

void SumFrom(const float* HWY_RESTRICT values, size_t count,
             const float* HWY_RESTRICT edges, double* HWY_RESTRICT all) {
  HWY_ALIGN double sums[kBins - 1][kSums];
  const size_t lanes = hn::Lanes(kD64);
  const V64 edge1 = hn::Set(kD64, static_cast<double>(edges[0]));
  const V64 edge2 = hn::Set(kD64, static_cast<double>(edges[1]));
  const V64 edge3 = hn::Set(kD64, static_cast<double>(edges[2]));
  for (size_t j = 0; j < kSums; j += 2 * lanes) {
    V64 a1 = hn::Zero(kD64);
    V64 a2 = a1;
    V64 a3 = a1;
    V64 b1 = a1;
    V64 b2 = a1;
    V64 b3 = a1;
    for (size_t i = j; i < count; i += kSums) {
      AddTo(Wide(values + i), edge1, edge2, edge3, a1, a2, a3);
      AddTo(Wide(values + i + lanes), edge1, edge2, edge3, b1, b2, b3);
    }
    hn::Store(a1, kD64, sums[0] + j);
    hn::Store(a2, kD64, sums[1] + j);
    hn::Store(a3, kD64, sums[2] + j);
    hn::Store(b1, kD64, sums[0] + j + lanes);
    hn::Store(b2, kD64, sums[1] + j + lanes);
    hn::Store(b3, kD64, sums[2] + j + lanes);
  }
  for (size_t i = 0; i < kBins - 1; ++i) all[i] = Folded16(sums[i]);
}

// Writes a byte with the code of each of `count` values, which are whole
// vectors.
void CodesOf(const float* HWY_RESTRICT values, size_t count,
             const float* HWY_RESTRICT edges, uint8_t* HWY_RESTRICT codes) {
  const hn::CappedTag<float, kSums> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Rebind<uint8_t, decltype(df)> d8;
  const auto edge1 = hn::Set(df, edges[0]);
  const auto edge2 = hn::Set(df, edges[1]);
  const auto edge3 = hn::Set(df, edges[2]);
  const auto one = hn::Set(du, 1);
  for (size_t i = 0; i < count; i += hn::Lanes(df)) {
    const auto value = hn::LoadU(df, values + i);
    auto code = hn::Zero(du);
    const auto test = [&](auto edge) HWY_ATTR {
      const auto is = hn::RebindMask(du, hn::Ge(value, edge));
      code = hn::IfThenElse(is, hn::Add(code, one), code);
    };
    test(edge1);
    test(edge2);
    test(edge3);
    hn::StoreU(hn::TruncateTo(d8, code), d8, codes + i);
  }
}

void CodeAndSum(const float* HWY_RESTRICT values, size_t count,
                const float* HWY_RESTRICT edges, uint8_t* HWY_RESTRICT codes,
                double* HWY_RESTRICT all) {
  SumFrom(values, count, edges, all);
  CodesOf(values, count, edges, codes);
}
#endif

// How many of `count` codes, a multiple of kCodeRun, come from each edge
// on.
void CountCodes(const uint8_t* HWY_RESTRICT codes, size_t count,
                uint64_t* HWY_RESTRICT from) {
  const hn::CappedTag<uint8_t, 64> d8;
  for (uint8_t edge = 0; edge < kBins - 1; ++edge) {
    const auto below = hn::Set(d8, edge);
    from[edge] = 0;
    for (size_t i = 0; i < count; i += hn::Lanes(d8)) {
      from[edge] += hn::CountTrue(d8, hn::Gt(hn::LoadU(d8, codes + i), below));
    }
  }
}

// Four bytes to one.
void PackCodes(const uint8_t* HWY_RESTRICT codes, size_t bytes,
               uint8_t* HWY_RESTRICT packed) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint32_t> du;
  const hn::Rebind<uint8_t, decltype(du)> d8;
  const size_t lanes = hn::Lanes(du);
  for (; i + lanes <= bytes; i += lanes) {
    const auto four = hn::BitCast(
        du, hn::LoadU(hn::Repartition<uint8_t, decltype(du)>(), codes + 4 * i));
    const auto two = hn::Or(four, hn::ShiftRight<6>(four));
    hn::StoreU(hn::TruncateTo(d8, hn::Or(two, hn::ShiftRight<12>(two))), d8,
               packed + i);
  }
#endif
  for (; i < bytes; ++i) {
    const uint8_t* const four = codes + 4 * i;
    packed[i] = static_cast<uint8_t>(four[0] | four[1] << 2 | four[2] << 4 |
                                     four[3] << 6);
  }
}

// The level of each code in whole words of 16 codes.
void WordLevels(const uint8_t* HWY_RESTRICT codes, size_t words,
                const float* HWY_RESTRICT levels, float* HWY_RESTRICT values) {
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, kSums> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const size_t lanes = hn::Lanes(df);
  const auto book = hn::LoadDup128(df, levels);
  const auto three = hn::Set(du, 3);
  const auto first = hn::Add(hn::Iota(du, 0), hn::Iota(du, 0));
  for (size_t word = 0; word < words; ++word) {
    uint32_t packed;
    std::memcpy(&packed, codes + 4 * word, sizeof(packed));
    for (size_t i = 0; i < kSums; i += lanes) {
      const auto some = hn::Set(du, packed >> (2 * i));
      const auto code = hn::And(hn::Shr(some, first), three);
      hn::StoreU(hn::TableLookupLanes(book, hn::IndicesFromVec(df, code)), df,
                 values + kSums * word + i);
    }
  }
#else
  for (size_t i = 0; i < kSums * words; ++i) {
    values[i] = levels[codes[i / 4] >> (2 * (i % 4)) & 3];
  }
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(SumMoments);
HWY_EXPORT(CodeAndSum);
HWY_EXPORT(CountCodes);
HWY_EXPORT(PackCodes);
HWY_EXPORT(WordLevels);

namespace {

// All that is read of fewer values: whole vectors of every length.
constexpr size_t kRun = 16;
static_assert(kRun <= kBinnedSlack);

// The same of codes.
constexpr size_t kCodeRun = 64;
static_assert(kBinnedMost % kCodeRun == 0);

constexpr size_t Padded(size_t count, size_t run) {
  return (count + run - 1) / run * run;
}

}  // namespace

Moments MomentsOf(float* values, size_t count) {
  SKERRY_CHECK(count <= kBinnedMost);
  std::memset(values + count, 0, (Padded(count, kRun) - count) * sizeof(float));
  Moments moments;
  HWY_DYNAMIC_DISPATCH(SumMoments)(values, count, &moments);
  return moments;
}

EdgeSums BinAll(const float* values, size_t count, const BinEdges& edges,
                std::byte* codes) {
  SKERRY_CHECK(count <= kBinnedMost);
  uint8_t bytes[kBinnedMost];
  EdgeSums from;
  HWY_DYNAMIC_DISPATCH(CodeAndSum)
  (values, Padded(count, kRun), edges.data(), bytes, from.sums.data());
  const size_t counted = Padded(count, kCodeRun);
  std::memset(bytes + count, 0, counted - count);
  HWY_DYNAMIC_DISPATCH(CountCodes)(bytes, counted, from.counts.data());
  HWY_DYNAMIC_DISPATCH(PackCodes)
  (bytes, (count + 3) / 4, reinterpret_cast<uint8_t*>(codes));
  return from;
}

bool LevelsOf(const std::byte* codes, size_t count,
              const std::array<float, kBins>& levels, float* values) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(codes);
  const size_t words = count / kRun;
  HWY_DYNAMIC_DISPATCH(WordLevels)(bytes, words, levels.data(), values);
  if (count % kRun != 0) {
    uint8_t last[sizeof(uint32_t)] = {};
    std::memcpy(last, bytes + sizeof(last) * words, (count % kRun + 3) / 4);
    HWY_DYNAMIC_DISPATCH(WordLevels)
    (last, 1, levels.data(), values + kRun * words);
  }
  const size_t used = count % 4;
  return used == 0 || bytes[count / 4] >> (2 * used) == 0;
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
