#include "compression/cpu/marks.h"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/marks.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// Highway has to follow foreach_target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

size_t CountEach(const uint64_t* HWY_RESTRICT words, size_t count) {
  size_t marks = 0;
  for (size_t i = 0; i < count; ++i) marks += hwy::PopCount(words[i]);
  return marks;
}

template <bool kAdd>
HWY_INLINE void PutAll(const uint64_t* HWY_RESTRICT words,
                       const float* HWY_RESTRICT from, float* HWY_RESTRICT to,
                       size_t count) {
  size_t begin = 0;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const hn::Full512<float> df;
  const size_t lanes = hn::Lanes(df);
  using Vec = hn::Vec<decltype(df)>;
  using Mask = hn::MFromD<decltype(df)>;
  for (; begin + kMarkedValues <= count; begin += kMarkedValues) {
    const uint64_t word = words[begin / kMarkedValues];
    HWY_UNROLL(4)
    for (size_t i = 0; i < kMarkedValues; i += lanes) {
      const auto some = static_cast<uint16_t>(word >> i);
      const Vec spread{_mm512_maskz_expand_ps(some, hn::LoadU(df, from).raw)};
      from += hwy::PopCount(uint64_t{some});
      float* const at = to + begin + i;
      if constexpr (kAdd) {
        // A zero that is added would change the sign of one that is there.
        const Vec before = hn::LoadU(df, at);
        hn::StoreU(hn::IfThenElse(Mask{some}, hn::Add(before, spread), before),
                   df, at);
      } else {
        hn::StoreU(spread, df, at);
      }
    }
  }
#endif
  if (!kAdd) std::memset(to + begin, 0, (count - begin) * sizeof(float));
  for (; begin < count; begin += kMarkedValues) {
    for (uint64_t word = words[begin / kMarkedValues]; word != 0;
         word &= word - 1) {
      float& value = to[begin + std::countr_zero(word)];
      value = kAdd ? value + *from : *from;
      ++from;
    }
  }
}

void PutEach(const uint64_t* HWY_RESTRICT words,
             const float* HWY_RESTRICT values, float* HWY_RESTRICT to,
             size_t count) {
  PutAll</*kAdd=*/false>(words, values, to, count);
}

void AddEach(const uint64_t* HWY_RESTRICT words,
             const float* HWY_RESTRICT values, float* HWY_RESTRICT to,
             size_t count) {
  PutAll</*kAdd=*/true>(words, values, to, count);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(CountEach);
HWY_EXPORT(PutEach);
HWY_EXPORT(AddEach);

size_t CountMarks(std::span<const uint64_t> words) {
  return HWY_DYNAMIC_DISPATCH(CountEach)(words.data(), words.size());
}

void PutMarked(const uint64_t* words, const float* values,
               std::span<float> to) {
  HWY_DYNAMIC_DISPATCH(PutEach)(words, values, to.data(), to.size());
}

void AddMarked(const uint64_t* words, const float* values,
               std::span<float> to) {
  HWY_DYNAMIC_DISPATCH(AddEach)(words, values, to.data(), to.size());
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
