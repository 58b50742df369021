#include "compression/testing/reference_codecs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace skerry::compression {
namespace {

constexpr size_t kBlock = 256;
constexpr float kScaleMax = 0x1.020406p+121f;

template <typename T>
void Append(std::vector<std::byte>& out, T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof(value));
}

template <typename T>
T At(std::span<const std::byte> payload, size_t offset) {
  T value;
  std::memcpy(&value, payload.data() + offset, sizeof(value));
  return value;
}

float BlockAbsMax(std::span<const float> values, size_t begin) {
  float absmax = 0.0f;
  for (size_t i = begin; i < std::min(begin + kBlock, values.size()); ++i) {
    absmax = std::max(absmax, std::fabs(values[i]));
  }
  return absmax;
}

// Of the two bf16 neighbours of a value, the nearer; on a tie the even one.
uint16_t RoundToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t low = static_cast<uint16_t>(bits >> 16);
  const uint16_t magnitude = low & 0x7fff;
  if (magnitude == 0x7f7f) return low;
  const uint16_t high = static_cast<uint16_t>(low + 1);
  const auto widen = [](uint16_t code) {
    return std::fabs(
        static_cast<double>(std::bit_cast<float>(uint32_t{code} << 16)));
  };
  const double exact = std::fabs(static_cast<double>(value));
  const double below = exact - widen(low);
  const double above = widen(high) - exact;
  if (below != above) return below < above ? low : high;
  return (low & 1) == 0 ? low : high;
}

std::vector<std::byte> EncodeInt8Block(std::span<const float> values) {
  std::vector<std::byte> scales;
  std::vector<std::byte> codes;
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    const float absmax = BlockAbsMax(values, begin);
    const bool zero = absmax < 0x1p-100f;
    Append(scales, zero ? 0.0f : std::min(absmax / 127.0f, kScaleMax));
    const float inverse = zero ? 0.0f : 127.0f / absmax;
    for (size_t i = begin; i < std::min(begin + kBlock, values.size()); ++i) {
      Append(codes, static_cast<int8_t>(
                        zero ? 0.0f : std::nearbyint(values[i] * inverse)));
    }
  }
  scales.insert(scales.end(), codes.begin(), codes.end());
  return scales;
}

}  // namespace

std::vector<std::byte> ReferenceEncode(CodecId codec,
                                       std::span<const float> values) {
  if (codec == CodecId::kInt8Block) return EncodeInt8Block(values);
  std::vector<std::byte> payload;
  for (const float value : values) {
    if (codec == CodecId::kRawF32) {
      Append(payload, value);
    } else {
      SKERRY_CHECK(codec == CodecId::kBf16);
      Append(payload, RoundToBf16(value));
    }
  }
  return payload;
}

std::vector<float> ReferenceDecode(CodecId codec,
                                   std::span<const std::byte> payload,
                                   size_t count) {
  const size_t codes_at = (count + kBlock - 1) / kBlock * sizeof(float);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    switch (codec) {
      case CodecId::kRawF32:
        values[i] = At<float>(payload, i * sizeof(float));
        break;
      case CodecId::kBf16:
        values[i] = std::bit_cast<float>(
            uint32_t{At<uint16_t>(payload, i * sizeof(uint16_t))} << 16);
        break;
      case CodecId::kInt8Block:
        values[i] = static_cast<float>(At<int8_t>(payload, codes_at + i)) *
                    At<float>(payload, i / kBlock * sizeof(float));
        break;
    }
  }
  return values;
}

double ErrorBound(CodecId codec, std::span<const float> values, size_t index) {
  const double magnitude = std::fabs(static_cast<double>(values[index]));
  switch (codec) {
    case CodecId::kRawF32:
      return 0.0;
    case CodecId::kBf16:
      // Half a unit in the last of 8 bits, a whole one where the largest bf16
      // stands in for infinity; half the smallest subnormal near zero.
      return std::max(magnitude * 0x1p-8, 0x1p-134);
    case CodecId::kInt8Block: {
      const double absmax = BlockAbsMax(values, index / kBlock * kBlock);
      // Half a step, and the rounding of scale, inverse and product.
      return absmax < 0x1p-100 ? 0x1p-100 : absmax * (0.5 / 127 + 0x1p-22);
    }
  }
  return 0.0;
}

}  // namespace skerry::compression
