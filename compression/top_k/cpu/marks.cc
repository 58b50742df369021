#include "compression/top_k/cpu/marks.h"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/top_k/cpu/marks.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// These have to follow foreach_target.
#include "compression/dense/cpu/puts-inl.h"
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

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
using D = hn::Full512<float>;

// Calls put(spread, which lanes, place) for the vectors of some words.
template <class Put>
HWY_INLINE void SpreadWords(const uint64_t* HWY_RESTRICT words, size_t count,
                            const float* HWY_RESTRICT& from, const Put& put) {
  for (size_t begin = 0; begin < count * kMarkedValues;
       begin += kMarkedValues) {
    const uint64_t word = words[begin / kMarkedValues];
    HWY_UNROLL(4)
    for (size_t i = 0; i < kMarkedValues; i += hn::Lanes(D())) {
      const auto some = static_cast<uint16_t>(word >> i);
      auto next = hn::LoadU(D(), from).raw;
      // Some processors expand from memory slowly.
      asm("" : "+v"(next));
      const hn::Vec<D> spread{_mm512_maskz_expand_ps(some, next)};
      from += hwy::PopCount(uint64_t{some});
      put(spread, hn::MFromD<D>{some}, begin + i);
    }
  }
}

template <class Out>
HWY_INLINE void PutWords(const uint64_t* HWY_RESTRICT words, size_t count,
                         const float* HWY_RESTRICT& from,
                         float* HWY_RESTRICT to, Out& out) {
  const auto zero = hn::Zero(D());
  SpreadWords(words, count, from, [&](auto spread, auto, size_t i) HWY_ATTR {
    out.Put(hn::Add(spread, zero), D(), to + i);
  });
}
#endif

void PutEach(const uint64_t* HWY_RESTRICT words, const float* HWY_RESTRICT from,
             float* HWY_RESTRICT to, size_t count, Stores stores) {
  size_t begin = 0;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const size_t whole = count / kMarkedValues;
  Overwrite over;
  if (stores == Stores::kPastCaches && whole > 1) {
    PutWords(words, 1, from, to, over);
    Shifted shifted(to + kMarkedValues);
    PutWords(words + 1, whole - 1, from, to + kMarkedValues, shifted);
    shifted.Finish();
  } else {
    PutWords(words, whole, from, to, over);
  }
  begin = whole * kMarkedValues;
#endif
  std::memset(to + begin, 0, (count - begin) * sizeof(float));
  for (; begin < count; begin += kMarkedValues) {
    for (uint64_t word = words[begin / kMarkedValues]; word != 0;
         word &= word - 1) {
      to[begin + std::countr_zero(word)] += *from++;  // of zeros, +0
    }
  }
}

void AddEach(const uint64_t* HWY_RESTRICT words, const float* HWY_RESTRICT from,
             float* HWY_RESTRICT to, size_t count) {
  size_t begin = 0;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const size_t whole = count / kMarkedValues;
  SpreadWords(
      words, whole, from, [&](auto spread, auto some, size_t i) HWY_ATTR {
        // A zero that is added would change the sign of one that is
        // there.
        const auto before = hn::LoadU(D(), to + i);
        hn::StoreU(hn::IfThenElse(some, hn::Add(before, spread), before), D(),
                   to + i);
      });
  begin = whole * kMarkedValues;
#endif
  for (; begin < count; begin += kMarkedValues) {
    for (uint64_t word = words[begin / kMarkedValues]; word != 0;
         word &= word - 1) {
      to[begin + std::countr_zero(word)] += *from++;
    }
  }
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

void PutMarked(const uint64_t* words, const float* values, std::span<float> to,
               Stores stores) {
  HWY_DYNAMIC_DISPATCH(PutEach)(words, values, to.data(), to.size(), stores);
}

void AddMarked(const uint64_t* words, const float* values,
               std::span<float> to) {
  HWY_DYNAMIC_DISPATCH(AddEach)(words, values, to.data(), to.size());
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
