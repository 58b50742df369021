#include "compression/testing/reference_codecs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "compression/testing/reference_few_bits.h"

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

// Returns the nearer of the two bf16 neighbours of a value, on a tie the even
// one. A magnitude beyond the largest finite bf16 becomes that.
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

double HalfValue(uint16_t code) {
  const int exponent = code >> 10 & 31;
  const int fraction = code & 1023;
  return exponent == 0 ? std::ldexp(fraction, -24)
                       : std::ldexp(1024 + fraction, exponent - 25);
}

// The largest half that is no larger, or its successor where that is nearer;
// on a tie the even one.
uint16_t RoundToHalf(float value) {
  const double exact = std::fabs(static_cast<double>(value));
  uint16_t low = 0;
  for (int bit = 14; bit >= 0; --bit) {
    const auto more = static_cast<uint16_t>(low | 1 << bit);
    if (more <= 0x7bff && HalfValue(more) <= exact) low = more;
  }
  if (low < 0x7bff) {
    const double below = exact - HalfValue(low);
    const double above = HalfValue(low + 1) - exact;
    if (above < below || (above == below && low % 2 == 1)) ++low;
  }
  return std::signbit(value) ? low | 0x8000 : low;
}

float HalfToFloat(uint16_t code) {
  const auto size = static_cast<float>(HalfValue(code & 0x7fff));
  return (code & 0x8000) != 0 ? -size : size;
}

std::vector<std::byte> EncodeInt8Block(std::span<const float> values) {
  std::vector<std::byte> scales;
  std::vector<std::byte> codes;
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    const ReferenceInt8 block = ReferenceEncodeInt8(
        values.subspan(begin, std::min(kBlock, values.size() - begin)));
    Append(scales, block.scale);
    for (const int8_t code : block.codes) Append(codes, code);
  }
  scales.insert(scales.end(), codes.begin(), codes.end());
  return scales;
}

double RootMeanSquare(std::span<const float> values) {
  double sum = 0.0;
  for (const float value : values) {
    sum += static_cast<double>(value) * value;
  }
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// Every value becomes plus or minus the root mean square of its block.
double Sign1Bound(std::span<const float> values, size_t index, size_t block) {
  const size_t begin = index / block * block;
  const double rms = RootMeanSquare(
      values.subspan(begin, std::min(block, values.size() - begin)));
  const double magnitude = std::fabs(static_cast<double>(values[index]));
  if (rms < 0x1.000002p-80) return magnitude;
  return std::fabs(magnitude - rms) + rms * 0x1p-23;
}

// A value goes to one of two magnitudes, as its own is above or below a share
// of its block's root mean square. These are shares of a scale, which is at
// most 1.52p127 in hexadecimal.
double Lloyd2Bound(std::span<const float> values, size_t index) {
  const size_t begin = index / kBlock * kBlock;
  const auto block =
      values.subspan(begin, std::min(kBlock, values.size() - begin));
  const double rms = RootMeanSquare(block);
  const double midpoint = rms < 0x1p-80 ? 0.0 : 0.9816 * rms;
  const auto level_of = [&](float value, double slack) {
    return std::fabs(value) > midpoint * (1 + slack) ? 1.5104 : 0.4528;
  };
  double products = 0.0, squares = 0.0;
  for (const float value : block) {
    const double level = level_of(value, 0);
    products += std::fabs(value) * level;
    squares += level * level;
  }
  const double scale = std::min(products / squares, 0x1.52p127);
  const double magnitude = std::fabs(static_cast<double>(values[index]));
  if (scale < 0x1.000002p-80) return magnitude + 0x1.1p-80;
  // Rounding decides what is this close to the midpoint.
  return std::max(
             std::fabs(magnitude - level_of(values[index], 1e-6) * scale),
             std::fabs(magnitude - level_of(values[index], -1e-6) * scale)) +
         scale * 0x1p-19;
}

// Half the widest gap between two levels, of the scale.
double Block4Bound(std::span<const float> values, size_t index, double half_gap,
                   double scale_excess) {
  const size_t begin = index / 64 * 64;
  double absmax = 0.0;
  for (size_t i = begin; i < std::min(begin + 64, values.size()); ++i) {
    absmax = std::max(absmax, std::fabs(static_cast<double>(values[i])));
  }
  if (absmax < 0x1p-100) return 0x1p-100;
  return absmax * (half_gap * (1 + scale_excess) + 0x1p-20);
}

}  // namespace

ReferenceInt8 ReferenceEncodeInt8(std::span<const float> values) {
  float absmax = 0.0f;
  for (const float value : values) absmax = std::max(absmax, std::fabs(value));
  ReferenceInt8 block;
  block.codes.assign(values.size(), 0);
  if (absmax < 0x1p-100f) return block;
  block.scale = std::min(absmax / 127.0f, kScaleMax);
  const float inverse = 127.0f / absmax;
  for (size_t i = 0; i < values.size(); ++i) {
    block.codes[i] = static_cast<int8_t>(std::nearbyint(values[i] * inverse));
  }
  return block;
}

std::vector<std::byte> ReferenceEncode(CodecId codec,
                                       std::span<const float> values) {
  std::vector<std::byte> payload;
  switch (codec) {
    case CodecId::kRawF32:
      for (const float value : values) Append(payload, value);
      return payload;
    case CodecId::kBf16:
      for (const float value : values) Append(payload, RoundToBf16(value));
      return payload;
    case CodecId::kFp16:
      for (const float value : values) Append(payload, RoundToHalf(value));
      return payload;
    case CodecId::kInt8Block:
      return EncodeInt8Block(values);
    case CodecId::kSign1:
      return ReferenceEncodeSign1(values, kBlock);
    case CodecId::kSign1Whole:
      return ReferenceEncodeSign1(values, 0);
    case CodecId::kNf4:
      return ReferenceEncodeBlock4(values, ReferenceNf4Levels(), 2);
    case CodecId::kNf4F32:
      return ReferenceEncodeBlock4(values, ReferenceNf4Levels(), 4);
    case CodecId::kE3m0:
      return ReferenceEncodeBlock4(values, ReferenceE3m0Levels(), 2);
    case CodecId::kE3m0F32:
      return ReferenceEncodeBlock4(values, ReferenceE3m0Levels(), 4);
    case CodecId::kLloyd2:
      return ReferenceEncodeLloyd2(values);
    default:
      SKERRY_CHECK(false);
  }
}

std::vector<float> ReferenceDecode(CodecId codec,
                                   std::span<const std::byte> payload,
                                   size_t count) {
  const size_t codes_at = (count + kBlock - 1) / kBlock * sizeof(float);
  std::vector<float> values(count);
  switch (codec) {
    case CodecId::kRawF32:
      for (size_t i = 0; i < count; ++i) {
        values[i] = At<float>(payload, i * sizeof(float));
      }
      return values;
    case CodecId::kBf16:
      for (size_t i = 0; i < count; ++i) {
        values[i] = std::bit_cast<float>(
            uint32_t{At<uint16_t>(payload, i * sizeof(uint16_t))} << 16);
      }
      return values;
    case CodecId::kFp16:
      for (size_t i = 0; i < count; ++i) {
        values[i] = HalfToFloat(At<uint16_t>(payload, i * sizeof(uint16_t)));
      }
      return values;
    case CodecId::kInt8Block:
      for (size_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(At<int8_t>(payload, codes_at + i)) *
                    At<float>(payload, i / kBlock * sizeof(float));
      }
      return values;
    case CodecId::kSign1:
      return ReferenceDecodeSign1(payload, count, kBlock);
    case CodecId::kSign1Whole:
      return ReferenceDecodeSign1(payload, count, 0);
    case CodecId::kNf4:
      return ReferenceDecodeBlock4(payload, count, ReferenceNf4Levels(), 2);
    case CodecId::kNf4F32:
      return ReferenceDecodeBlock4(payload, count, ReferenceNf4Levels(), 4);
    case CodecId::kE3m0:
      return ReferenceDecodeBlock4(payload, count, ReferenceE3m0Levels(), 2);
    case CodecId::kE3m0F32:
      return ReferenceDecodeBlock4(payload, count, ReferenceE3m0Levels(), 4);
    case CodecId::kLloyd2:
      return ReferenceDecodeLloyd2(payload, count);
    default:
      SKERRY_CHECK(false);
  }
}

double ErrorBound(CodecId codec, std::span<const float> values, size_t index) {
  const double magnitude = std::fabs(static_cast<double>(values[index]));
  // Half the gap between the two lowest levels of NF4.
  constexpr double kNf4HalfGap = 0.15191;
  switch (codec) {
    case CodecId::kRawF32:
      return 0.0;
    case CodecId::kBf16:
      // Half a unit in the last of 8 bits, a whole one where the largest bf16
      // stands in for infinity; half the smallest subnormal near zero.
      return std::max(magnitude * 0x1p-8, 0x1p-134);
    case CodecId::kFp16:
      if (magnitude > 65504.0) return magnitude - 65504.0;
      return std::max(magnitude * 0x1p-11, 0x1p-25);
    case CodecId::kInt8Block: {
      const double absmax = BlockAbsMax(values, index / kBlock * kBlock);
      // Half a step, and the rounding of scale, inverse and product.
      return absmax < 0x1p-100 ? 0x1p-100 : absmax * (0.5 / 127 + 0x1p-22);
    }
    case CodecId::kSign1:
      return Sign1Bound(values, index, kBlock);
    case CodecId::kSign1Whole:
      return Sign1Bound(values, index, values.size());
    case CodecId::kNf4:
      return Block4Bound(values, index, kNf4HalfGap, 0x1p-7);
    case CodecId::kNf4F32:
      return Block4Bound(values, index, kNf4HalfGap, 0);
    case CodecId::kE3m0:
      return Block4Bound(values, index, 0.25, 0x1p-7);
    case CodecId::kE3m0F32:
      return Block4Bound(values, index, 0.25, 0);
    case CodecId::kLloyd2:
      return Lloyd2Bound(values, index);
    default:
      return 0.0;
  }
}

}  // namespace skerry::compression
