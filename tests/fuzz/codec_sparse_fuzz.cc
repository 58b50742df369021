// Any bytes as a payload of each sparse codec: what is accepted decodes to
// finite values, within the slice, and twice to the same.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"
#include "compression/sparse/sparse_codec.h"
#include "compression/sparse/threshold_top_k.h"

namespace skerry::compression {
namespace {

std::vector<std::unique_ptr<const Codec>> Codecs() {
  std::vector<std::unique_ptr<const Codec>> codecs;
  for (const CodecId inner : {CodecId::kRawF32, CodecId::kNf4}) {
    for (const double density : {0.01, 0.5}) {
      codecs.push_back(*MakeTopK({density, inner}));
      codecs.push_back(*MakeRandomK({density, inner}, 7));
      codecs.push_back(*MakeThresholdTopK(
          {density, inner},
          [](std::span<const float> values, size_t target, Workspace&) {
            return SidcoThreshold(values, target, {});
          }));
    }
  }
  codecs.push_back(*MakeChunkTopK(3));
  codecs.push_back(*MakeChunkTopK(64));
  return codecs;
}

void CheckDecode(const Codec& codec, std::span<const std::byte> payload,
                 size_t count) {
  // Exact sizes on the heap, so that the sanitizer sees every step outside.
  const std::vector<std::byte> exact(payload.begin(), payload.end());
  std::vector<float> values(count);
  std::vector<float> sum(count, 0.0f);
  const bool accepted = codec.Decode(exact, values).ok();
  SKERRY_CHECK(accepted == codec.DecodeAdd(exact, sum).ok());
  if (!accepted) return;
  SKERRY_CHECK(payload.size() <= codec.MaxEncodedBytes(count));
  for (size_t i = 0; i < count; ++i) {
    SKERRY_CHECK(std::isfinite(values[i]) && sum[i] == values[i]);
  }
  std::vector<std::byte> again;
  SKERRY_CHECK(codec.Encode(values, again).ok());
  SKERRY_CHECK(codec.Decode(again, sum).ok());
}

}  // namespace
}  // namespace skerry::compression

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  static const auto codecs = skerry::compression::Codecs();
  const auto& codec = *codecs[data[0] % codecs.size()];
  const size_t count = data[1] + 256 * (data[2] % 32);
  const auto payload = std::as_bytes(std::span(data, size)).subspan(3);
  skerry::compression::CheckDecode(codec, payload, count);
  // Once more with the length that those of fixed size want.
  std::vector<std::byte> fitted(payload.begin(), payload.end());
  fitted.resize(codec.MaxEncodedBytes(count));
  skerry::compression::CheckDecode(codec, fitted, count);
  return 0;
}
