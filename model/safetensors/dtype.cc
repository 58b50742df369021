#include "model/safetensors/dtype.h"

#include <bit>
#include <cstring>

#include "base/check.h"

namespace skerry::model {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint32_t kSignBit = 0x80000000u;
constexpr uint32_t kInfinity = 0x7f800000u;

// Drops the low `count` bits of `bits`, rounding to nearest, ties to even.
uint32_t RoundOff(uint32_t bits, int count) {
  const uint32_t half = (1u << (count - 1)) - 1;
  return (bits + half + ((bits >> count) & 1)) >> count;
}

uint16_t ToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & ~kSignBit) > kInfinity) {
    return static_cast<uint16_t>((bits >> 16) | 0x40);  // a quiet NaN
  }
  return static_cast<uint16_t>(RoundOff(bits, 16));
}

float FromBf16(uint16_t half) {
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

// 1 sign, 5 exponent (bias 15), 10 mantissa bits.
uint16_t ToF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & ~kSignBit;
  const uint16_t sign = static_cast<uint16_t>((bits & kSignBit) >> 16);
  if (magnitude > kInfinity) return sign | 0x7e00;
  const uint32_t exponent = magnitude >> 23;
  if (exponent < 127 - 25) return sign;  // below half of the least subnormal
  if (exponent < 127 - 14) {             // subnormal: units of 2^-24
    const uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
    const int drop = 126 - static_cast<int>(exponent);
    return sign | static_cast<uint16_t>(RoundOff(mantissa, drop));
  }
  const uint32_t rebased = magnitude - (uint32_t{127 - 15} << 23);
  const uint32_t rounded = RoundOff(rebased, 13);
  return sign | static_cast<uint16_t>(rounded < 0x7c00 ? rounded : 0x7c00);
}

float FromF16(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 0x1f;
  const uint32_t mantissa = half & 0x3ff;
  if (exponent == 0x1f) {
    return std::bit_cast<float>(sign | kInfinity | mantissa << 13);
  }
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | (exponent + (127 - 15)) << 23 |
                              mantissa << 13);
}

}  // namespace

std::string_view DtypeName(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return "F32";
    case Dtype::kBf16:
      return "BF16";
    case Dtype::kF16:
      return "F16";
    case Dtype::kF64:
      return "F64";
  }
  return "";
}

std::optional<Dtype> DtypeFromName(std::string_view name) {
  for (const Dtype dtype :
       {Dtype::kF32, Dtype::kBf16, Dtype::kF16, Dtype::kF64}) {
    if (DtypeName(dtype) == name) return dtype;
  }
  return std::nullopt;
}

std::string_view TorchDtypeName(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return "float32";
    case Dtype::kBf16:
      return "bfloat16";
    case Dtype::kF16:
      return "float16";
    case Dtype::kF64:
      return "float64";
  }
  return "";
}

size_t ElementBytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return sizeof(float);
    case Dtype::kBf16:
    case Dtype::kF16:
      return sizeof(uint16_t);
    case Dtype::kF64:
      return sizeof(double);
  }
  return 0;
}

void EncodeElements(std::span<const float> values, Dtype dtype,
                    std::span<std::byte> out) {
  SKERRY_CHECK(out.size() == values.size() * ElementBytes(dtype));
  if (values.empty()) return;
  if (dtype == Dtype::kF32) {
    std::memcpy(out.data(), values.data(), out.size());
    return;
  }
  if (dtype == Dtype::kF64) {
    for (size_t i = 0; i < values.size(); ++i) {
      const double wide = values[i];
      std::memcpy(out.data() + i * sizeof(wide), &wide, sizeof(wide));
    }
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t half =
        dtype == Dtype::kBf16 ? ToBf16(values[i]) : ToF16(values[i]);
    std::memcpy(out.data() + i * sizeof(half), &half, sizeof(half));
  }
}

void DecodeElements(std::span<const std::byte> bytes, Dtype dtype,
                    std::span<float> out) {
  SKERRY_CHECK(bytes.size() == out.size() * ElementBytes(dtype));
  if (out.empty()) return;
  if (dtype == Dtype::kF32) {
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return;
  }
  if (dtype == Dtype::kF64) {
    for (size_t i = 0; i < out.size(); ++i) {
      double wide;
      std::memcpy(&wide, bytes.data() + i * sizeof(wide), sizeof(wide));
      out[i] = static_cast<float>(wide);
    }
    return;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t half;
    std::memcpy(&half, bytes.data() + i * sizeof(half), sizeof(half));
    out[i] = dtype == Dtype::kBf16 ? FromBf16(half) : FromF16(half);
  }
}

}  // namespace skerry::model
