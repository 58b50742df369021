#include "compression/cpu/bf16.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compression/cpu/bf16.cc"
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
constexpr uint32_t kInfinityBits = 0x7f800000;

// Rounds one chunk. False when a value is not finite.
HWY_INLINE bool EncodeChunk(const float* HWY_RESTRICT values,
                            uint16_t* HWY_RESTRICT out) {
  const hn::ScalableTag<uint32_t> du;
  const hn::RebindToSigned<decltype(du)> di;
  const hn::Rebind<uint16_t, decltype(du)> d16;
  const size_t lanes = hn::Lanes(du);
  const auto magnitude = hn::Set(du, 0x7fffffffu);
  const auto half = hn::Set(du, 0x7fffu);
  const auto one = hn::Set(du, 1u);
  // The largest magnitude whose rounding stays finite.
  const auto largest = hn::Set(du, 0x7f7f7fffu);
  const auto* bits = reinterpret_cast<const uint32_t*>(values);
  auto absmax = hn::Zero(di);
  for (size_t i = 0; i < kChunk; i += lanes) {
    const auto raw = hn::LoadU(du, bits + i);
    const auto size = hn::And(raw, magnitude);
    absmax = hn::Max(absmax, hn::BitCast(di, size));
    const auto sign = hn::AndNot(magnitude, raw);
    // Magnitudes are below 2^31, where signed and unsigned order agree.
    const auto kept = hn::BitCast(
        du, hn::Min(hn::BitCast(di, size), hn::BitCast(di, largest)));
    const auto odd = hn::And(hn::ShiftRight<16>(kept), one);
    const auto rounded = hn::Add(kept, hn::Add(half, odd));
    const auto upper = hn::ShiftRight<16>(hn::Or(rounded, sign));
    hn::StoreU(hn::TruncateTo(d16, upper), d16, out + i);
  }
  return hn::GetLane(hn::MaxOfLanes(di, absmax)) <
         static_cast<int32_t>(kInfinityBits);
}

// Widens one chunk. False when a value is not finite.
template <bool kAdd>
HWY_INLINE bool DecodeChunk(const uint16_t* HWY_RESTRICT codes,
                            float* HWY_RESTRICT values) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<uint16_t, decltype(df)> d16;
  const size_t lanes = hn::Lanes(df);
  const auto magnitude = hn::Set(di, 0x7fffffff);
  auto absmax = hn::Zero(di);
  for (size_t i = 0; i < kChunk; i += lanes) {
    const auto bits =
        hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(d16, codes + i)));
    absmax = hn::Max(absmax, hn::And(hn::BitCast(di, bits), magnitude));
    auto value = hn::BitCast(df, bits);
    if constexpr (kAdd) value = hn::Add(hn::LoadU(df, values + i), value);
    hn::StoreU(value, df, values + i);
  }
  return hn::GetLane(hn::MaxOfLanes(di, absmax)) <
         static_cast<int32_t>(kInfinityBits);
}

bool EncodeAll(const float* HWY_RESTRICT values, size_t count,
               std::byte* HWY_RESTRICT out) {
  auto* codes = reinterpret_cast<uint16_t*>(out);
  size_t i = 0;
  for (; i + kChunk <= count; i += kChunk) {
    if (!EncodeChunk(values + i, codes + i)) return false;
  }
  if (i == count) return true;
  float padded[kChunk] = {};
  uint16_t padded_codes[kChunk];
  std::memcpy(padded, values + i, (count - i) * sizeof(float));
  if (!EncodeChunk(padded, padded_codes)) return false;
  std::memcpy(codes + i, padded_codes, (count - i) * sizeof(uint16_t));
  return true;
}

template <bool kAdd>
bool DecodeAll(const std::byte* HWY_RESTRICT payload, size_t count,
               float* HWY_RESTRICT values) {
  const auto* codes = reinterpret_cast<const uint16_t*>(payload);
  size_t i = 0;
  for (; i + kChunk <= count; i += kChunk) {
    if (!DecodeChunk<kAdd>(codes + i, values + i)) return false;
  }
  if (i == count) return true;
  float padded[kChunk] = {};
  uint16_t padded_codes[kChunk] = {};
  std::memcpy(padded, values + i, (count - i) * sizeof(float));
  std::memcpy(padded_codes, codes + i, (count - i) * sizeof(uint16_t));
  if (!DecodeChunk<kAdd>(padded_codes, padded)) return false;
  std::memcpy(values + i, padded, (count - i) * sizeof(float));
  return true;
}

bool DecodeSet(const std::byte* HWY_RESTRICT payload, size_t count,
               float* HWY_RESTRICT values) {
  return DecodeAll<false>(payload, count, values);
}

bool DecodeSum(const std::byte* HWY_RESTRICT payload, size_t count,
               float* HWY_RESTRICT values) {
  return DecodeAll<true>(payload, count, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace skerry::compression::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace skerry::compression::cpu {

HWY_EXPORT(EncodeAll);
HWY_EXPORT(DecodeSet);
HWY_EXPORT(DecodeSum);

bool Bf16::Encode(std::span<const float> values, std::byte* out) {
  return HWY_DYNAMIC_DISPATCH(EncodeAll)(values.data(), values.size(), out);
}

bool Bf16::Decode(const std::byte* payload, std::span<float> values) {
  return HWY_DYNAMIC_DISPATCH(DecodeSet)(payload, values.size(), values.data());
}

bool Bf16::DecodeAdd(const std::byte* payload, std::span<float> accumulators) {
  return HWY_DYNAMIC_DISPATCH(DecodeSum)(payload, accumulators.size(),
                                         accumulators.data());
}

}  // namespace skerry::compression::cpu
#endif  // HWY_ONCE
