// compression/dense/cpu/blocks-inl.h
//
// Walks the blocks of a slice, the last one padded, for every codec of
// block_kernels.h. Included once for each SIMD target.
//
// A Body is one codec's work on one block:
//   kRun                     how many blocks are encoded together while as many
//                            are left
//   kPad                     the value that fills up a shorter block
//   Encode(block, values, size, ahead, scale, codes)
//                            writes a whole block, of which `size` values
//                            count; `ahead` are values needed soon. False if
//                            one is not finite
//   EncodeRun(block, values, ahead, scales, codes)
//                            does the same for kRun whole blocks; only if kRun
//                            is not 1
//   EncodeTo(values, ahead, scales, codes, out)
//                            optional: does the same for kRun whole blocks, but
//                            puts the codes, as Decode puts its values
//   Decode(scale, codes, values, out)
//                            puts a whole block's vectors of the longest kind,
//                            in order, with out.Put(vector, tag, its values).
//                            False if scale or codes are refused
#if defined(SKERRY_COMPRESSION_DENSE_CPU_BLOCKS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef SKERRY_COMPRESSION_DENSE_CPU_BLOCKS_INL_H_
#undef SKERRY_COMPRESSION_DENSE_CPU_BLOCKS_INL_H_
#else
#define SKERRY_COMPRESSION_DENSE_CPU_BLOCKS_INL_H_
#endif

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "compression/dense/cpu/pages.h"
#include "compression/dense/cpu/puts-inl.h"
#include "compression/dense/cpu/runs-inl.h"
#include "compression/dense/cpu/stores.h"
#include "compression/dense/cpu/tiles-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
namespace {

// Bit pattern of the largest magnitude of a block. The patterns of magnitudes
// are ordered as the magnitudes are, with infinity and NaN above all others.
template <size_t kCount>
HWY_INLINE int32_t AbsMaxBits(const float* HWY_RESTRICT values) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<int32_t, kCount / 2> di;
  const size_t lanes = hn::Lanes(di);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto* bits = reinterpret_cast<const int32_t*>(values);
  auto max0 = hn::Zero(di);
  auto max1 = hn::Zero(di);
  for (size_t i = 0; i < kCount; i += 2 * lanes) {
    max0 = hn::Max(max0, hn::And(hn::LoadU(di, bits + i), magnitude));
    max1 = hn::Max(max1, hn::And(hn::LoadU(di, bits + i + lanes), magnitude));
  }
  return hn::GetLane(hn::MaxOfLanes(di, hn::Max(max0, max1)));
}

// `values` are those from `begin` on, of a slice of `count`.
template <class Kernels, class Body>
HWY_INLINE bool EncodeBlocks(const Body body, const float* HWY_RESTRICT values,
                             size_t count, size_t begin, size_t end,
                             std::byte* HWY_RESTRICT payload, Stores stores) {
  constexpr size_t kBlock = Kernels::kElements;
  std::byte* codes = payload + Kernels::ScaleBytes(count);
  const size_t first = begin / kBlock;
  const size_t whole = end / kBlock;
  constexpr size_t kCodes = Kernels::kBlockCodeBytes;
  constexpr size_t kRun = Body::kRun;
  const size_t runs = (whole - first) / kRun;
  const Runs<Kernels, Body> encode{body, values, first, whole, payload};
  size_t run = 0;
  if (stores == Stores::kPastCaches) {
    std::byte* const to = codes + first * kCodes;
    run = EncodeShifted(encode, runs, to);
    if (run == 0) run = InTiles<kRun * kCodes>(runs, to, encode);
    if (run == kRefused) return false;
  }
  for (; run < runs; ++run) {
    if (!encode(run, codes + (first + run * kRun) * kCodes)) return false;
  }
  for (size_t b = first + runs * kRun; b < whole; ++b) {
    const float* block = values + (b - first) * kBlock;
    if (!body.Encode(b, block, kBlock, block,
                     payload + b * Kernels::kScaleBytes, codes + b * kCodes)) {
      return false;
    }
  }
  const size_t rest = end - whole * kBlock;
  if (rest == 0) return true;
  float padded[kBlock];
  std::byte padded_codes[Kernels::kBlockCodeBytes];
  std::fill(padded, padded + kBlock, Body::kPad);
  std::memcpy(padded, values + (whole - first) * kBlock, rest * sizeof(float));
  if (!body.Encode(whole, padded, rest, padded,
                   payload + whole * Kernels::kScaleBytes, padded_codes)) {
    return false;
  }
  const size_t bytes = Kernels::CodeBytes(rest);
  padded_codes[bytes - 1] &= static_cast<std::byte>(~Kernels::BehindMask(rest));
  std::memcpy(codes + whole * Kernels::kBlockCodeBytes, padded_codes, bytes);
  return true;
}

// Asks for codes that come a KiB behind these. What is read only once is not
// to take the place of results in a cache.
template <size_t kBytes>
HWY_INLINE void AskOnce(const std::byte* codes) {
  constexpr size_t kLineBytes = 64;
  constexpr size_t kAheadBytes = 1024;
  for (size_t i = 0; i < kBytes; i += kLineBytes) {
    __builtin_prefetch(codes + kAheadBytes + i, /*rw=*/0, /*locality=*/0);
  }
}

// Stores blocks `first` to `end`, which decode(block, values, out) makes, past
// the caches, all but a few at either end. Returns the first that is left to
// the caller; kRefused when decode() was false.
template <size_t kBlock, class Decode>
HWY_INLINE size_t DecodePastCaches(size_t first, size_t end,
                                   float* HWY_RESTRICT values,
                                   const Decode& decode) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if (first == end) return first;
  Overwrite over;
  if (!decode(first, values, over)) return kRefused;
  Shifted shifted(values + kBlock);
  for (size_t b = first + 1; b < end; ++b) {
    if (!decode(b, values + (b - first) * kBlock, shifted)) return kRefused;
  }
  shifted.Finish();
  return end;
#else
  const size_t done = InTiles<kBlock * sizeof(float)>(
      end - first, values, [&](size_t i, std::byte* to) HWY_ATTR {
        Overwrite over;
        return decode(first + i, reinterpret_cast<float*>(to), over);
      });
  return done == kRefused ? kRefused : first + done;
#endif
}

template <class Kernels, class Body, class Out>
HWY_INLINE bool DecodeBlocks(const Body body,
                             const std::byte* HWY_RESTRICT payload,
                             size_t count, size_t begin, size_t end,
                             float* HWY_RESTRICT values, Stores stores) {
  constexpr size_t kBlock = Kernels::kElements;
  const std::byte* codes = payload + Kernels::ScaleBytes(count);
  const size_t first = begin / kBlock;
  const size_t whole = end / kBlock;
  const auto decode = [&](size_t b, float* to, auto& out) HWY_ATTR {
    AskPageAhead(to, kBlock * sizeof(float));
    AskPageAhead(codes + b * Kernels::kBlockCodeBytes,
                 Kernels::kBlockCodeBytes);
    return body.Decode(payload + b * Kernels::kScaleBytes,
                       codes + b * Kernels::kBlockCodeBytes, to, out);
  };
  size_t next = first;
  if constexpr (std::is_same_v<Out, Overwrite>) {
    if (stores == Stores::kPastCaches) {
      next = DecodePastCaches<kBlock>(
          first, whole, values, [&](size_t b, float* to, auto& out) HWY_ATTR {
            AskOnce<Kernels::kBlockCodeBytes>(codes +
                                              b * Kernels::kBlockCodeBytes);
            return decode(b, to, out);
          });
      if (next == kRefused) return false;
    }
  }
  Out out;
  for (; next < whole; ++next) {
    if (!decode(next, values + (next - first) * kBlock, out)) return false;
  }
  const size_t rest = end - whole * kBlock;
  if (rest == 0) return true;
  float padded[kBlock] = {};
  std::byte padded_codes[Kernels::kBlockCodeBytes] = {};
  const size_t bytes = Kernels::CodeBytes(rest);
  std::memcpy(padded, values + (whole - first) * kBlock, rest * sizeof(float));
  std::memcpy(padded_codes, codes + whole * Kernels::kBlockCodeBytes, bytes);
  if ((std::to_integer<unsigned>(padded_codes[bytes - 1]) &
       Kernels::BehindMask(rest)) != 0) {
    return false;
  }
  if (!body.Decode(payload + whole * Kernels::kScaleBytes, padded_codes, padded,
                   out)) {
    return false;
  }
  std::memcpy(values + (whole - first) * kBlock, padded, rest * sizeof(float));
  return true;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, toggled for each target

// Dispatch wants functions that are no templates.
#ifndef SKERRY_BLOCK_CODEC

// Inside HWY_NAMESPACE: the functions of one target. What follows the name is
// the Body's type.
#define SKERRY_BLOCK_CODEC_TARGET(Name, ...)                                   \
  bool Encode##Name(const float* HWY_RESTRICT values, size_t count,            \
                    size_t begin, size_t end, std::byte* HWY_RESTRICT payload, \
                    Stores stores) {                                           \
    return EncodeBlocks<Name>(__VA_ARGS__(), values, count, begin, end,        \
                              payload, stores);                                \
  }                                                                            \
  bool Decode##Name(const std::byte* HWY_RESTRICT payload, size_t count,       \
                    size_t begin, size_t end, float* HWY_RESTRICT values,      \
                    Stores stores) {                                           \
    return DecodeBlocks<Name, __VA_ARGS__, Overwrite>(                         \
        __VA_ARGS__(), payload, count, begin, end, values, stores);            \
  }                                                                            \
  bool DecodeAdd##Name(const std::byte* HWY_RESTRICT payload, size_t count,    \
                       size_t begin, size_t end, float* HWY_RESTRICT values) { \
    return DecodeBlocks<Name, __VA_ARGS__, AddTo>(                             \
        __VA_ARGS__(), payload, count, begin, end, values, Stores::kCached);   \
  }

// Once, outside: picks among them when called.
#define SKERRY_BLOCK_CODEC(Name)                                              \
  HWY_EXPORT(Encode##Name);                                                   \
  HWY_EXPORT(Decode##Name);                                                   \
  HWY_EXPORT(DecodeAdd##Name);                                                \
  template <>                                                                 \
  bool Name::EncodeBlocks(std::span<const float> values, size_t begin,        \
                          size_t count, std::byte* payload, Stores stores) {  \
    return HWY_DYNAMIC_DISPATCH(Encode##Name)(                                \
        values.data(), count, begin, begin + values.size(), payload, stores); \
  }                                                                           \
  template <>                                                                 \
  bool Name::DecodeBlocks(const std::byte* payload, size_t begin,             \
                          size_t count, std::span<float> values,              \
                          Stores stores) {                                    \
    return HWY_DYNAMIC_DISPATCH(Decode##Name)(                                \
        payload, count, begin, begin + values.size(), values.data(), stores); \
  }                                                                           \
  template <>                                                                 \
  bool Name::DecodeAddBlocks(const std::byte* payload, size_t begin,          \
                             size_t count, std::span<float> accumulators) {   \
    return HWY_DYNAMIC_DISPATCH(DecodeAdd##Name)(payload, count, begin,       \
                                                 begin + accumulators.size(), \
                                                 accumulators.data());        \
  }

#endif  // SKERRY_BLOCK_CODEC
