#include "compression/testing/reference_sparse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/random.h"
#include "compression/testing/reference_codecs.h"

namespace skerry::compression {
namespace {

std::vector<float> Picked(std::span<const float> values,
                          std::span<const size_t> places) {
  std::vector<float> picked;
  for (const size_t place : places) picked.push_back(values[place]);
  return picked;
}

template <typename T>
void Append(std::vector<std::byte>& out, T value) {
  out.resize(out.size() + sizeof(value));
  std::memcpy(out.data() + out.size() - sizeof(value), &value, sizeof(value));
}

void AppendBits(std::vector<bool>& bits, size_t value, int count) {
  for (int bit = 0; bit < count; ++bit) bits.push_back(value >> bit & 1);
}

void AppendPacked(std::vector<std::byte>& out, const std::vector<bool>& bits) {
  const size_t at = out.size();
  out.resize(at + (bits.size() + 7) / 8);
  for (size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) out[at + i / 8] |= std::byte{1} << (i % 8);
  }
}

bool IsMarked(size_t elements, size_t sent) {
  return sent > 0 && 8 * sent >= elements;
}

// What int8_block makes of values beside bits. The values that each stretch of
// places sends share a scale.
struct Stretches {
  std::vector<float> scales;
  std::vector<int8_t> codes;
  std::vector<float> decoded;
};

Stretches EncodeStretches(std::span<const float> values,
                          std::span<const size_t> places) {
  size_t size = 256;
  while (size * places.size() < 192 * values.size()) size *= 2;
  Stretches result;
  auto next = places.begin();
  for (size_t begin = 0; begin < values.size(); begin += size) {
    const auto end = std::lower_bound(next, places.end(), begin + size);
    const ReferenceInt8 block =
        ReferenceEncodeInt8(Picked(values, {next, end}));
    result.scales.push_back(block.scale);
    for (const int8_t code : block.codes) {
      result.codes.push_back(code);
      result.decoded.push_back(static_cast<float>(code) * block.scale);
    }
    next = end;
  }
  return result;
}

// Puts `picked` at `places`, each zero as +0, and +0 elsewhere.
std::vector<float> Spread(std::span<const float> picked,
                          std::span<const size_t> places, size_t elements) {
  std::vector<float> sparse(elements, 0.0f);
  for (size_t i = 0; i < places.size(); ++i) sparse[places[i]] += picked[i];
  return sparse;
}

}  // namespace

std::vector<size_t> ReferenceTopKPlaces(std::span<const float> values,
                                        size_t k) {
  std::vector<size_t> places(values.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) {
    return std::fabs(values[a]) > std::fabs(values[b]);
  });
  places.resize(k);
  std::sort(places.begin(), places.end());
  return places;
}

std::vector<std::byte> ReferenceEncodeIndexed(std::span<const float> values,
                                              std::span<const size_t> places,
                                              CodecId inner) {
  std::vector<std::byte> payload;
  Append(payload, static_cast<uint32_t>(places.size()));
  const bool marked = IsMarked(values.size(), places.size());
  Stretches stretches;
  const bool stretched = marked && inner == CodecId::kInt8Block;
  if (stretched) {
    stretches = EncodeStretches(values, places);
    for (const float scale : stretches.scales) Append(payload, scale);
  }
  if (marked) {
    std::vector<bool> bits(values.size());
    for (const size_t place : places) bits[place] = true;
    AppendPacked(payload, bits);
  }
  size_t next = 0;
  for (const size_t place : marked ? std::span<const size_t>() : places) {
    size_t gap = place - next;
    while (gap >= 128) {
      payload.push_back(static_cast<std::byte>(gap % 128 + 128));
      gap /= 128;
    }
    payload.push_back(static_cast<std::byte>(gap));
    next = place + 1;
  }
  if (stretched) {
    for (const int8_t code : stretches.codes) Append(payload, code);
    return payload;
  }
  const auto encoded = ReferenceEncodeValues(values, places, inner);
  payload.insert(payload.end(), encoded.begin(), encoded.end());
  return payload;
}

std::vector<std::byte> ReferenceEncodeValues(std::span<const float> values,
                                             std::span<const size_t> places,
                                             CodecId inner) {
  return ReferenceEncode(inner, Picked(values, places));
}

std::vector<float> ReferenceSparseIndexed(std::span<const float> values,
                                          std::span<const size_t> places,
                                          CodecId inner) {
  if (inner != CodecId::kInt8Block || !IsMarked(values.size(), places.size())) {
    return ReferenceSparseValues(values, places, inner);
  }
  return Spread(EncodeStretches(values, places).decoded, places, values.size());
}

std::vector<float> ReferenceSparseValues(std::span<const float> values,
                                         std::span<const size_t> places,
                                         CodecId inner) {
  const auto payload = ReferenceEncodeValues(values, places, inner);
  return Spread(ReferenceDecode(inner, payload, places.size()), places,
                values.size());
}

namespace {

// Sums what(value) over all places in the order of docs/formats/codecs.md.
// Places of chunk c are counted from 4096 c.
template <typename What>
double SumOfChunks(std::span<const float> values,
                   const std::vector<std::vector<size_t>>& chunks,
                   const What& what) {
  double all = 0.0;
  for (size_t c = 0; c < chunks.size(); ++c) {
    std::vector<double> sums(16, 0.0);
    for (size_t i = 0; i < chunks[c].size(); ++i) {
      sums[i % 16] += what(values[4096 * c + chunks[c][i]]);
    }
    for (; sums.size() > 1; sums.resize(sums.size() / 2)) {
      for (size_t i = 0; i < sums.size() / 2; ++i) {
        sums[i] += sums[i + sums.size() / 2];
      }
    }
    all += sums[0];
  }
  return all;
}

// Appends the places of a chunk of `size` values, in the order of
// docs/formats/codecs.md.
void AppendPlaces(std::vector<std::byte>& out, size_t size,
                  const std::vector<size_t>& places) {
  std::vector<bool> bits;
  if (12 * places.size() > size) {
    bits.resize(size);
    for (const size_t place : places) bits[place] = true;
  } else {
    for (const size_t place : places) AppendBits(bits, place, 12);
  }
  AppendPacked(out, bits);
}

// Appends a group: up to 16 chunks that share their levels.
void AppendGroup(std::span<const float> values, size_t kept,
                 ReferenceChunkTopK& result, std::span<float> decoded) {
  std::vector<std::vector<size_t>> chunks;
  std::vector<size_t> places;
  for (size_t begin = 0; begin < values.size(); begin += 4096) {
    const size_t size = std::min<size_t>(4096, values.size() - begin);
    chunks.push_back(
        ReferenceTopKPlaces(values.subspan(begin, size), std::min(kept, size)));
    for (const size_t place : chunks.back()) places.push_back(begin + place);
  }
  const auto count = static_cast<double>(places.size());
  const auto sum_of = [&](auto what) {
    return SumOfChunks(values, chunks, what);
  };
  const double mean = sum_of([](double value) { return value; }) / count;
  const double variance =
      sum_of([](double value) { return value * value; }) / count - mean * mean;
  const double width = variance > 0 ? 1.5 * std::sqrt(variance) : 0.0;
  const auto code_of = [&](float value) {
    if (!(width > 0)) return 2;
    const double bin = std::floor((value - mean) / width);
    return bin < -1 ? 0 : bin < 0 ? 1 : bin < 1 ? 2 : 3;
  };
  const auto sum_from = [&](int code) {
    return sum_of([&](double value) {
      return code_of(static_cast<float>(value)) >= code ? value : 0.0;
    });
  };
  for (int code = 0; code < 4; ++code) {
    const auto members = static_cast<double>(std::count_if(
        places.begin(), places.end(),
        [&](size_t place) { return code_of(values[place]) == code; }));
    const float level =
        members == 0.0 ? 0.0f
                       : static_cast<float>(
                             (sum_from(code) - sum_from(code + 1)) / members);
    Append(result.payload, level);
    for (const size_t place : places) {
      if (code_of(values[place]) == code) decoded[place] += level;
    }
  }
  for (size_t c = 0; c < chunks.size(); ++c) {
    AppendPlaces(result.payload,
                 std::min<size_t>(4096, values.size() - 4096 * c), chunks[c]);
    std::vector<bool> code_bits;
    for (const size_t place : chunks[c]) {
      AppendBits(code_bits, code_of(values[4096 * c + place]), 2);
    }
    AppendPacked(result.payload, code_bits);
  }
}

}  // namespace

ReferenceChunkTopK ReferenceEncodeChunkTopK(std::span<const float> values,
                                            size_t kept) {
  constexpr size_t kGroup = 16 * 4096;
  ReferenceChunkTopK result;
  result.decoded.assign(values.size(), 0.0f);
  for (size_t begin = 0; begin < values.size(); begin += kGroup) {
    const size_t size = std::min(kGroup, values.size() - begin);
    AppendGroup(values.subspan(begin, size), kept, result,
                std::span(result.decoded).subspan(begin, size));
  }
  return result;
}

}  // namespace skerry::compression
