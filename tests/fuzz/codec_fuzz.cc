#include "tests/fuzz/codec_fuzz.h"

#include <cmath>
#include <vector>

#include "base/check.h"

namespace skerry::compression {
namespace {

void CheckDecode(const Codec& codec, std::span<const std::byte> payload,
                 size_t count) {
  // Exact sizes on the heap, so that the sanitizer sees every step outside.
  const std::vector<std::byte> exact(payload.begin(), payload.end());
  std::vector<float> values(count);
  std::vector<float> sum(count, 0.0f);
  const bool accepted = codec.Decode(exact, values).ok();
  SKERRY_CHECK(accepted == codec.DecodeAdd(exact, sum).ok());
  if (!accepted) return;
  for (size_t i = 0; i < count; ++i) {
    SKERRY_CHECK(std::isfinite(values[i]));
    SKERRY_CHECK(sum[i] == values[i]);
  }
  std::vector<std::byte> again;
  SKERRY_CHECK(codec.Encode(values, again).ok());
  SKERRY_CHECK(again.size() == codec.MaxEncodedBytes(count));
}

}  // namespace

void FuzzDecoder(CodecId id, std::span<const std::byte> input) {
  if (input.size() < 2) return;
  const size_t count = std::to_integer<size_t>(input[0]) +
                       256 * (std::to_integer<size_t>(input[1]) % 8);
  const Codec& codec = **FindCodec(id);
  const auto payload = input.subspan(2);
  CheckDecode(codec, payload, count);
  std::vector<std::byte> fitted(payload.begin(), payload.end());
  fitted.resize(codec.MaxEncodedBytes(count));
  CheckDecode(codec, fitted, count);
}

}  // namespace skerry::compression
