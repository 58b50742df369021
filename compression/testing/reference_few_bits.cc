#include "compression/testing/reference_few_bits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace skerry::compression {
namespace {

constexpr size_t kSumBlock = 256;
constexpr size_t kBlock4 = 64;

void AppendBytes(std::vector<std::byte>& out, const void* from, size_t bytes) {
  const auto* first = static_cast<const std::byte*>(from);
  out.insert(out.end(), first, first + bytes);
}

// Halves onto halves.
double Folded(std::array<double, 16> sums) {
  for (const size_t half : {8, 4, 2, 1}) {
    for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

// At most 256 values: 16 sums of every 16th value.
double SumOfSquares(std::span<const float> values) {
  std::array<double, 16> sums{};
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    sums[i % 16] += value * value;
  }
  return Folded(sums);
}

// The code whose level is nearest; between two at one distance the lower code
// for NF4, the smaller magnitude for E3M0.
int NearestCode(float y, const ReferenceLevels& levels) {
  int best = 0;
  if (levels.zero != 0) {
    while (best < 15 &&
           y > (levels.values[best] + levels.values[best + 1]) * 0.5f) {
      ++best;
    }
    return best;
  }
  const float size = std::fabs(y);
  while (best < 7 &&
         size > (levels.values[best] + levels.values[best + 1]) * 0.5f) {
    ++best;
  }
  return best != 0 && std::signbit(y) ? best + 8 : best;
}

float Block4Scale(std::span<const float> values, size_t scale_bytes) {
  float absmax = 0.0f;
  for (const float value : values) absmax = std::max(absmax, std::fabs(value));
  if (absmax < 0x1p-100f) return 0.0f;
  if (scale_bytes == 4) return absmax;
  uint32_t bits = std::bit_cast<uint32_t>(absmax);
  if ((bits & 0xffff) != 0) bits = (bits & 0xffff0000u) + 0x10000u;
  return std::bit_cast<float>(std::min(bits, 0x7f7f0000u));
}

float ReadScale(std::span<const std::byte> payload, size_t block,
                size_t scale_bytes) {
  uint32_t bits = 0;
  std::memcpy(reinterpret_cast<std::byte*>(&bits) + (4 - scale_bytes),
              payload.data() + block * scale_bytes, scale_bytes);
  return std::bit_cast<float>(bits);
}

}  // namespace

float ReferenceSign1Scale(std::span<const float> values) {
  double sum = 0.0;
  for (size_t begin = 0; begin < values.size(); begin += kSumBlock) {
    sum += SumOfSquares(
        values.subspan(begin, std::min(kSumBlock, values.size() - begin)));
  }
  const double rms = std::sqrt(sum / static_cast<double>(values.size()));
  return rms < 0x1p-80 ? 0.0f : static_cast<float>(rms);
}

std::vector<std::byte> ReferenceEncodeSign1(std::span<const float> values,
                                            size_t block) {
  if (block == 0) block = std::max<size_t>(values.size(), 1);
  std::vector<std::byte> payload;
  for (size_t begin = 0; begin < values.size(); begin += block) {
    const float scale = ReferenceSign1Scale(
        values.subspan(begin, std::min(block, values.size() - begin)));
    AppendBytes(payload, &scale, sizeof(scale));
  }
  const size_t bits_at = payload.size();
  payload.resize(bits_at + (values.size() + 7) / 8);
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::signbit(values[i])) continue;
    payload[bits_at + i / 8] |= std::byte{0x80} >> (i % 8);
  }
  return payload;
}

std::vector<float> ReferenceDecodeSign1(std::span<const std::byte> payload,
                                        size_t count, size_t block) {
  if (block == 0) block = std::max<size_t>(count, 1);
  const size_t bits_at = (count + block - 1) / block * sizeof(float);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    const float scale = ReadScale(payload, i / block, sizeof(float));
    const std::byte bit = payload[bits_at + i / 8] << (i % 8);
    values[i] = (bit & std::byte{0x80}) != std::byte{0} ? scale : -scale;
  }
  return values;
}

std::vector<std::byte> ReferenceEncodeLloyd2(std::span<const float> values) {
  std::vector<std::byte> payload;
  std::vector<std::byte> codes((values.size() + 3) / 4);
  for (size_t begin = 0; begin < values.size(); begin += kSumBlock) {
    const auto block =
        values.subspan(begin, std::min(kSumBlock, values.size() - begin));
    const float midpoint = 0.9816f * ReferenceSign1Scale(block);
    std::array<double, 16> sums{};
    double outers = 0;
    for (size_t i = 0; i < block.size(); ++i) {
      const bool outer = std::fabs(block[i]) > midpoint;
      const int code =
          std::signbit(block[i]) ? (outer ? 0 : 1) : (outer ? 3 : 2);
      codes[(begin + i) / 4] |= static_cast<std::byte>(code << (2 * (i % 4)));
      if (outer) outers += 1;
      sums[i % 16] += double{std::fabs(block[i])} * (outer ? 1.5104f : 0.4528f);
    }
    const double inners = static_cast<double>(block.size()) - outers;
    const double scale = Folded(sums) / (inners * (double{0.4528f} * 0.4528f) +
                                         outers * (double{1.5104f} * 1.5104f));
    const float wire = scale < 0x1p-80
                           ? 0.0f
                           : static_cast<float>(std::min(scale, 0x1.52p127));
    AppendBytes(payload, &wire, sizeof(wire));
  }
  payload.insert(payload.end(), codes.begin(), codes.end());
  return payload;
}

std::vector<float> ReferenceDecodeLloyd2(std::span<const std::byte> payload,
                                         size_t count) {
  const size_t codes_at = (count + kSumBlock - 1) / kSumBlock * sizeof(float);
  constexpr float kLevels[] = {-1.5104f, -0.4528f, 0.4528f, 1.5104f};
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    const auto byte = std::to_integer<unsigned>(payload[codes_at + i / 4]);
    values[i] = kLevels[byte >> (2 * (i % 4)) & 3] *
                ReadScale(payload, i / kSumBlock, sizeof(float));
  }
  return values;
}

const ReferenceLevels& ReferenceNf4Levels() {
  static const ReferenceLevels levels = {
      {-1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f,
       -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f,
       0.0f, 0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f,
       0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f,
       0.7229568362236023f, 1.0f},
      7};
  return levels;
}

const ReferenceLevels& ReferenceE3m0Levels() {
  static const ReferenceLevels levels = [] {
    ReferenceLevels made{{}, 0};
    for (int code = 1; code < 8; ++code) {
      made.values[code] = std::ldexp(1.0f, code - 7);
      made.values[code + 8] = -made.values[code];
    }
    return made;
  }();
  return levels;
}

std::vector<std::byte> ReferenceEncodeBlock4(std::span<const float> values,
                                             const ReferenceLevels& levels,
                                             size_t scale_bytes) {
  std::vector<std::byte> payload;
  std::vector<std::byte> codes((values.size() + 1) / 2);
  for (size_t begin = 0; begin < values.size(); begin += kBlock4) {
    const auto block =
        values.subspan(begin, std::min(kBlock4, values.size() - begin));
    const float scale = Block4Scale(block, scale_bytes);
    const auto bits = std::bit_cast<uint32_t>(scale);
    AppendBytes(payload,
                reinterpret_cast<const std::byte*>(&bits) + (4 - scale_bytes),
                scale_bytes);
    const float shrink = scale >= 0x1p100f ? 0x1p-64f : 1.0f;
    for (size_t i = 0; i < block.size(); ++i) {
      const int code =
          scale == 0.0f
              ? levels.zero
              : NearestCode(block[i] * shrink * (1.0f / (scale * shrink)),
                            levels);
      codes[(begin + i) / 2] |=
          static_cast<std::byte>((begin + i) % 2 == 0 ? code : code << 4);
    }
  }
  payload.insert(payload.end(), codes.begin(), codes.end());
  return payload;
}

std::vector<float> ReferenceDecodeBlock4(std::span<const std::byte> payload,
                                         size_t count,
                                         const ReferenceLevels& levels,
                                         size_t scale_bytes) {
  const size_t codes_at = (count + kBlock4 - 1) / kBlock4 * scale_bytes;
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    const int pair = std::to_integer<int>(payload[codes_at + i / 2]);
    const int code = i % 2 == 0 ? pair % 16 : pair / 16;
    values[i] =
        levels.values[code] * ReadScale(payload, i / kBlock4, scale_bytes);
  }
  return values;
}

}  // namespace skerry::compression
