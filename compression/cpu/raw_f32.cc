#include "compression/cpu/raw_f32.h"

#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/raw_f32.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every target
// Highway has to follow foreach_target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace skerry::compression::cpu {
namespace HWY_NAMESPACE {
// Other codecs have functions of the same names.
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Elements per pass of a loop body; a multiple of every vector length.
constexpr size_t kChunk = 256;

// Copies, or adds, one chunk. False when a value of `from` is not finite.
template <bool kAdd>
HWY_INLINE bool MoveChunk(const float* HWY_RESTRICT from,
                          float* HWY_RESTRICT to) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const size_t lanes = hn::Lanes(df);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  auto absmax = hn::Zero(di);
  for (size_t i = 0; i < kChunk; i += lanes) {
    auto value = hn::LoadU(df, from + i);
    absmax = hn::Max(absmax, hn::And(hn::BitCast(di, value), magnitude));
    if constexpr (kAdd) value = hn::Add(hn::LoadU(df, to + i), value);
    hn::StoreU(value, df, to + i);
  }
  return hn::GetLane(hn::MaxOfLanes(di, absmax)) < 0x7f800000;
}

template <bool kAdd>
bool MoveAll(const float* HWY_RESTRICT from, size_t count,
             float* HWY_RESTRICT to) {
  size_t i = 0;
  for (; i + kChunk <= count; i += kChunk) {
    if (!MoveChunk<kAdd>(from + i, to + i)) return false;
  }
  if (i == count) return true;
  const size_t rest_bytes = (count - i) * sizeof(float);
  float padded_from[kChunk] = {};
  float padded_to[kChunk] = {};
  std::memcpy(padded_from, from + i, rest_bytes);
  std::memcpy(padded_to, to + i, rest_bytes);
  if (!MoveChunk<kAdd>(padded_from, padded_to)) return false;
  std::memcpy(to + i, padded_to, rest_bytes);
  return true;
}

bool CopyFinite(const float* HWY_RESTRICT from, size_t count,
                float* HWY_RESTRICT to) {
  return MoveAll<false>(from, count, to);
}

bool AddFinite(const float* HWY_RESTRICT from, size_t count,
               float* HWY_RESTRICT to) {
  return MoveAll<true>(from, count, to);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(CopyFinite);
HWY_EXPORT(AddFinite);

bool RawF32::Encode(std::span<const float> values, std::byte* out) {
  return HWY_DYNAMIC_DISPATCH(CopyFinite)(values.data(), values.size(),
                                          reinterpret_cast<float*>(out));
}

bool RawF32::Decode(const std::byte* payload, std::span<float> values) {
  return HWY_DYNAMIC_DISPATCH(CopyFinite)(
      reinterpret_cast<const float*>(payload), values.size(), values.data());
}

bool RawF32::DecodeAdd(const std::byte* payload,
                       std::span<float> accumulators) {
  return HWY_DYNAMIC_DISPATCH(AddFinite)(
      reinterpret_cast<const float*>(payload), accumulators.size(),
      accumulators.data());
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
