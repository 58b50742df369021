#include "bench/micro/memory_floor.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/micro/memory_floor.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// Highway has to follow foreach_target.
#include "compression/dense/cpu/pages.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::bench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using compression::cpu::AskPageAhead;

constexpr hn::ScalableTag<uint8_t> kTag;
// Calls one(narrow vector, first wide vector, behind the last) so that wide
// vectors are spread evenly over the narrow ones, at least one each.
template <class One>
HWY_INLINE void ForEachGroup(size_t wide_bytes, size_t narrow_bytes,
                             const One& one) {
  const size_t lanes = hn::Lanes(kTag);
  const size_t wide = wide_bytes / lanes;
  const size_t narrow = std::max<size_t>(narrow_bytes / lanes, 1);
  size_t at = 0;
  size_t carried = 0;
  for (size_t i = 0; i < narrow; ++i) {
    carried += wide % narrow;
    const size_t extra = carried >= narrow ? 1 : 0;
    carried -= extra * narrow;
    const size_t end = at + wide / narrow + extra;
    one(i * lanes, at * lanes, end * lanes, lanes);
    at = end;
  }
}

// Bytes before the next place where a vector may be stored past the caches.
HWY_INLINE size_t Misplaced(const uint8_t* at) {
  const size_t lanes = hn::Lanes(kTag);
  return (lanes - reinterpret_cast<uintptr_t>(at) % lanes) % lanes;
}

template <bool kPast, class V>
HWY_INLINE void Store(V value, uint8_t* to) {
  if constexpr (kPast) {
    hn::Stream(value, kTag, to);
  } else {
    hn::StoreU(value, kTag, to);
  }
}

// Wide vectors of a step, which all loops by steps take at once.
constexpr size_t kStepVectors = 4;

// How many narrow vectors a step has: a power of 2, so that no byte of them is
// left out, and some may be in two steps.
size_t NarrowOfStep(size_t wide_bytes, size_t narrow_bytes) {
  size_t vectors = 1;
  while (vectors * wide_bytes < kStepVectors * narrow_bytes) vectors *= 2;
  return vectors;
}

// Calls one(narrow byte, wide byte, lanes) for every step. Unlike groups, steps
// are all alike, so that no branch is mistaken.
template <class One>
HWY_INLINE void ForEachStep(size_t wide_bytes, size_t narrow_bytes,
                            size_t narrow_vectors, const One& one) {
  constexpr unsigned kFraction = 20;
  const size_t lanes = hn::Lanes(kTag);
  const size_t steps = wide_bytes / (kStepVectors * lanes);
  if (steps == 0 || narrow_bytes < narrow_vectors * lanes) return;
  const size_t last = narrow_bytes - narrow_vectors * lanes;
  const size_t stride = (narrow_bytes << kFraction) / steps;
  size_t at = 0;
  for (size_t i = 0; i < steps; ++i, at += stride) {
    one(std::min(at >> kFraction, last), i * kStepVectors * lanes, lanes);
  }
}

template <bool kPast, bool kAsk>
void NarrowBy(const uint8_t* HWY_RESTRICT wide, size_t wide_bytes,
              uint8_t* HWY_RESTRICT narrow, size_t narrow_bytes, size_t ahead) {
  const size_t skipped =
      kPast ? std::min(Misplaced(narrow), narrow_bytes - 1) : 0;
  narrow += skipped;
  narrow_bytes -= skipped;
  ForEachGroup(wide_bytes, narrow_bytes,
               [&](size_t to, size_t from, size_t end, size_t lanes) HWY_ATTR {
                 const auto load = [&](size_t at) HWY_ATTR {
                   if constexpr (kAsk) {
                     __builtin_prefetch(wide + at + ahead);
                     AskPageAhead(wide + at, lanes);
                   }
                   return hn::LoadU(kTag, wide + at);
                 };
                 if constexpr (kAsk) AskPageAhead(narrow + to, lanes);
                 auto all = load(from);
                 for (from += lanes; from < end; from += lanes) {
                   all = hn::Xor(all, load(from));
                 }
                 if (to + lanes <= narrow_bytes) {
                   Store<kPast>(all, narrow + to);
                 } else {
                   narrow[to] = hn::GetLane(all);
                 }
               });
  if constexpr (kPast) hwy::FlushStream();
}

template <size_t kNarrow, bool kAsk>
void NarrowSteps(const uint8_t* HWY_RESTRICT wide, size_t wide_bytes,
                 uint8_t* HWY_RESTRICT narrow, size_t narrow_bytes,
                 size_t ahead) {
  ForEachStep(wide_bytes, narrow_bytes, kNarrow,
              [&](size_t to, size_t from, size_t lanes) HWY_ATTR {
                for (size_t i = 0; i < kNarrow; ++i) {
                  auto all = hn::Zero(kTag);
                  for (size_t j = 0; j < kStepVectors / kNarrow;
                       ++j, from += lanes) {
                    if constexpr (kAsk) {
                      __builtin_prefetch(wide + from + ahead);
                      AskPageAhead(wide + from, lanes);
                    }
                    all = hn::Xor(all, hn::LoadU(kTag, wide + from));
                  }
                  if constexpr (kAsk) {
                    AskPageAhead(narrow + to + i * lanes, lanes);
                  }
                  hn::StoreU(all, kTag, narrow + to + i * lanes);
                }
              });
}

template <bool kAsk>
void NarrowInSteps(const uint8_t* HWY_RESTRICT wide, size_t wide_bytes,
                   uint8_t* HWY_RESTRICT narrow, size_t narrow_bytes,
                   size_t ahead) {
  const size_t vectors = NarrowOfStep(wide_bytes, narrow_bytes);
  const auto by = vectors == 1   ? NarrowSteps<1, kAsk>
                  : vectors == 2 ? NarrowSteps<2, kAsk>
                                 : NarrowSteps<4, kAsk>;
  by(wide, wide_bytes, narrow, narrow_bytes, ahead);
}

void Narrow(const uint8_t* HWY_RESTRICT wide, size_t wide_bytes,
            uint8_t* HWY_RESTRICT narrow, size_t narrow_bytes, Way way,
            size_t ahead) {
  if (way == Way::kSteps) {
    (ahead > 0
         ? NarrowInSteps<true>
         : NarrowInSteps<false>)(wide, wide_bytes, narrow, narrow_bytes, ahead);
    return;
  }
  const auto by =
      way == Way::kGroupsPastCaches
          ? (ahead > 0 ? NarrowBy<true, true> : NarrowBy<true, false>)
          : (ahead > 0 ? NarrowBy<false, true> : NarrowBy<false, false>);
  by(wide, wide_bytes, narrow, narrow_bytes, ahead);
}

// To runs of zeros, each with one vector of all that belongs to it. The library
// writes zeros faster than a loop does.
void Clear(const uint8_t* HWY_RESTRICT narrow, size_t narrow_bytes,
           uint8_t* HWY_RESTRICT wide, size_t wide_bytes, size_t run_bytes) {
  const size_t lanes = hn::Lanes(kTag);
  const size_t runs = (wide_bytes + run_bytes - 1) / run_bytes;
  size_t at = 0;
  for (size_t run = 0; run < runs; ++run) {
    const size_t end = (run + 1) * narrow_bytes / runs;
    auto all = hn::Zero(kTag);
    for (; at + lanes <= end; at += lanes) {
      all = hn::Xor(all, hn::LoadU(kTag, narrow + at));
    }
    for (; at < end; ++at) all = hn::Xor(all, hn::Set(kTag, narrow[at]));
    const size_t to = run * run_bytes;
    const size_t size = std::min(run_bytes, wide_bytes - to);
    std::memset(wide + to, 0, size);
    if (size >= lanes) hn::StoreU(all, kTag, wide + to);
  }
}

template <bool kPast, bool kAsk>
void WidenBy(const uint8_t* HWY_RESTRICT narrow, size_t narrow_bytes,
             uint8_t* HWY_RESTRICT wide, size_t wide_bytes, size_t ahead) {
  const size_t skipped = kPast ? std::min(Misplaced(wide), wide_bytes) : 0;
  wide += skipped;
  wide_bytes -= skipped;
  ForEachGroup(wide_bytes, narrow_bytes,
               [&](size_t from, size_t to, size_t end, size_t lanes) HWY_ATTR {
                 if constexpr (kAsk) {
                   __builtin_prefetch(narrow + from + ahead, /*rw=*/0,
                                      /*locality=*/0);
                   AskPageAhead(narrow + from, lanes);
                 }
                 const auto value = from + lanes <= narrow_bytes
                                        ? hn::LoadU(kTag, narrow + from)
                                        : hn::Set(kTag, narrow[from]);
                 for (; to < end; to += lanes) {
                   if constexpr (!kPast) {
                     __builtin_prefetch(wide + to + ahead, /*rw=*/1);
                   }
                   if constexpr (kAsk) AskPageAhead(wide + to, lanes);
                   Store<kPast>(value, wide + to);
                 }
               });
  if constexpr (kPast) hwy::FlushStream();
}

template <size_t kNarrow, bool kAsk>
void WidenSteps(const uint8_t* HWY_RESTRICT narrow, size_t narrow_bytes,
                uint8_t* HWY_RESTRICT wide, size_t wide_bytes, size_t ahead) {
  const size_t skipped = std::min(Misplaced(wide), wide_bytes);
  ForEachStep(wide_bytes - skipped, narrow_bytes, kNarrow,
              [&](size_t from, size_t to, size_t lanes) HWY_ATTR {
                to += skipped;
                if constexpr (kAsk) {
                  __builtin_prefetch(narrow + from + ahead, /*rw=*/0,
                                     /*locality=*/0);
                  AskPageAhead(narrow + from, lanes);
                }
                for (size_t i = 0; i < kNarrow; ++i) {
                  const auto value = hn::LoadU(kTag, narrow + from + i * lanes);
                  for (size_t j = 0; j < kStepVectors / kNarrow;
                       ++j, to += lanes) {
                    if constexpr (kAsk) AskPageAhead(wide + to, lanes);
                    hn::Stream(value, kTag, wide + to);
                  }
                }
              });
  hwy::FlushStream();
}

template <bool kAsk>
void WidenInSteps(const uint8_t* HWY_RESTRICT narrow, size_t narrow_bytes,
                  uint8_t* HWY_RESTRICT wide, size_t wide_bytes, size_t ahead) {
  const size_t vectors = NarrowOfStep(wide_bytes, narrow_bytes);
  const auto by = vectors == 1   ? WidenSteps<1, kAsk>
                  : vectors == 2 ? WidenSteps<2, kAsk>
                                 : WidenSteps<4, kAsk>;
  by(narrow, narrow_bytes, wide, wide_bytes, ahead);
}

void Widen(const uint8_t* HWY_RESTRICT narrow, size_t narrow_bytes,
           uint8_t* HWY_RESTRICT wide, size_t wide_bytes, Way way,
           size_t ahead) {
  if (way == Way::kSteps) {
    (ahead > 0 ? WidenInSteps<true> : WidenInSteps<false>)(narrow, narrow_bytes,
                                                           wide, wide_bytes,
                                                           ahead);
    return;
  }
  const auto by =
      way == Way::kGroupsPastCaches
          ? (ahead > 0 ? WidenBy<true, true> : WidenBy<true, false>)
          : (ahead > 0 ? WidenBy<false, true> : WidenBy<false, false>);
  by(narrow, narrow_bytes, wide, wide_bytes, ahead);
}

// All bits set, which no compiler knows: what is updated stays what it was, as
// a codec then adds to it.
HWY_INLINE hn::Vec<decltype(kTag)> AllBits() {
  static const volatile uint8_t all_bits = 0xff;
  return hn::Set(kTag, all_bits);
}

template <bool kAsk>
HWY_INLINE void UpdateBy(const uint8_t* HWY_RESTRICT narrow,
                         size_t narrow_bytes, uint8_t* HWY_RESTRICT wide,
                         size_t wide_bytes, size_t ahead) {
  const auto all_bits = AllBits();
  ForEachGroup(wide_bytes, narrow_bytes,
               [&](size_t from, size_t to, size_t end, size_t lanes) HWY_ATTR {
                 if constexpr (kAsk) AskPageAhead(narrow + from, lanes);
                 const auto some = from + lanes <= narrow_bytes
                                       ? hn::LoadU(kTag, narrow + from)
                                       : hn::Set(kTag, narrow[from]);
                 const auto value = hn::Or(some, all_bits);
                 for (; to < end; to += lanes) {
                   if constexpr (kAsk) {
                     __builtin_prefetch(wide + to + ahead, /*rw=*/1);
                     AskPageAhead(wide + to, lanes);
                   }
                   hn::StoreU(hn::And(hn::LoadU(kTag, wide + to), value), kTag,
                              wide + to);
                 }
               });
}

template <size_t kNarrow, bool kAsk>
void UpdateSteps(const uint8_t* HWY_RESTRICT narrow, size_t narrow_bytes,
                 uint8_t* HWY_RESTRICT wide, size_t wide_bytes, size_t ahead) {
  const auto all_bits = AllBits();
  ForEachStep(
      wide_bytes, narrow_bytes, kNarrow,
      [&](size_t from, size_t to, size_t lanes) HWY_ATTR {
        for (size_t i = 0; i < kNarrow; ++i) {
          if constexpr (kAsk) AskPageAhead(narrow + from + i * lanes, lanes);
          const auto value =
              hn::Or(hn::LoadU(kTag, narrow + from + i * lanes), all_bits);
          for (size_t j = 0; j < kStepVectors / kNarrow; ++j, to += lanes) {
            if constexpr (kAsk) {
              __builtin_prefetch(wide + to + ahead, /*rw=*/1);
              AskPageAhead(wide + to, lanes);
            }
            hn::StoreU(hn::And(hn::LoadU(kTag, wide + to), value), kTag,
                       wide + to);
          }
        }
      });
}

template <bool kAsk>
void UpdateInSteps(const uint8_t* HWY_RESTRICT narrow, size_t narrow_bytes,
                   uint8_t* HWY_RESTRICT wide, size_t wide_bytes,
                   size_t ahead) {
  const size_t vectors = NarrowOfStep(wide_bytes, narrow_bytes);
  const auto by = vectors == 1   ? UpdateSteps<1, kAsk>
                  : vectors == 2 ? UpdateSteps<2, kAsk>
                                 : UpdateSteps<4, kAsk>;
  by(narrow, narrow_bytes, wide, wide_bytes, ahead);
}

void Update(const uint8_t* HWY_RESTRICT narrow, size_t narrow_bytes,
            uint8_t* HWY_RESTRICT wide, size_t wide_bytes, Way way,
            size_t ahead) {
  if (way == Way::kSteps) {
    (ahead > 0 ? UpdateInSteps<true> : UpdateInSteps<false>)(narrow,
                                                             narrow_bytes, wide,
                                                             wide_bytes, ahead);
    return;
  }
  if (ahead > 0) {
    UpdateBy<true>(narrow, narrow_bytes, wide, wide_bytes, ahead);
  } else {
    UpdateBy<false>(narrow, narrow_bytes, wide, wide_bytes, ahead);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::bench {

HWY_EXPORT(Narrow);
HWY_EXPORT(Clear);
HWY_EXPORT(Widen);
HWY_EXPORT(Update);

namespace {

const uint8_t* Bytes(std::span<const std::byte> bytes) {
  return reinterpret_cast<const uint8_t*>(bytes.data());
}
uint8_t* Bytes(std::span<std::byte> bytes) {
  return reinterpret_cast<uint8_t*>(bytes.data());
}

}  // namespace

void FloorNarrow(std::span<const std::byte> wide, std::span<std::byte> narrow,
                 Way way, size_t ahead) {
  if (narrow.empty()) return;
  HWY_DYNAMIC_DISPATCH(Narrow)
  (Bytes(wide), wide.size(), Bytes(narrow), narrow.size(), way, ahead);
}

void FloorWiden(std::span<const std::byte> narrow, std::span<std::byte> wide,
                Way way, size_t ahead) {
  if (narrow.empty()) return;
  HWY_DYNAMIC_DISPATCH(Widen)
  (Bytes(narrow), narrow.size(), Bytes(wide), wide.size(), way, ahead);
}

void FloorClear(std::span<const std::byte> narrow, std::span<std::byte> wide,
                size_t run_bytes) {
  if (narrow.empty()) return;
  HWY_DYNAMIC_DISPATCH(Clear)
  (Bytes(narrow), narrow.size(), Bytes(wide), wide.size(), run_bytes);
}

void FloorUpdate(std::span<const std::byte> narrow, std::span<std::byte> wide,
                 Way way, size_t ahead) {
  if (narrow.empty()) return;
  HWY_DYNAMIC_DISPATCH(Update)
  (Bytes(narrow), narrow.size(), Bytes(wide), wide.size(), way, ahead);
}

void FloorTouch(std::span<const std::byte> narrow,
                std::span<const uint32_t> places, size_t ahead,
                std::span<float> wide) {
  if (places.empty() || narrow.empty()) return;
  const size_t step = narrow.size() / places.size();
  const size_t last = places.size() - 1;
  for (size_t i = 0; i <= std::min(ahead, last); ++i) {
    hwy::Prefetch(&wide[places[i]]);
  }
  for (size_t i = 0; i <= last; ++i) {
    hwy::Prefetch(&wide[places[std::min(i + ahead, last)]]);
    wide[places[i]] +=
        static_cast<float>(std::to_integer<int>(narrow[i * step]));
  }
}

}  // namespace skerry::bench
#endif  // HWY_ONCE
