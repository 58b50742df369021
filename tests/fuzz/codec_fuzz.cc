#include "tests/fuzz/codec_fuzz.h"

#include <cmath>
#include <vector>

#include "base/check.h"
#include "compression/parts.h"
#include "compression/testing/backward_executor.h"
#include "compression/workspace.h"
#include "tests/fuzz/claimed_elements.h"

namespace skerry::compression {
namespace {

void CheckDecode(const Codec& codec, std::span<const std::byte> payload,
                 size_t count) {
  // Exact sizes on the heap, so that the sanitizer sees every step outside.
  const std::vector<std::byte> exact(payload.begin(), payload.end());
  std::vector<float> values(count);
  std::vector<float> sum(count, 0.0f);
  std::vector<float> in_parts(count);
  BackwardExecutor executor(4);
  Workspace parts(executor);
  const bool accepted = codec.Decode(exact, values).ok();
  SKERRY_CHECK(accepted == codec.DecodeAdd(exact, sum).ok());
  SKERRY_CHECK(accepted == codec.Decode(exact, in_parts, parts).ok());
  if (!accepted) return;
  SKERRY_CHECK(in_parts == values);
  for (size_t i = 0; i < count; ++i) {
    SKERRY_CHECK(std::isfinite(values[i]) && sum[i] == values[i]);
  }
  // So that runs with several parts are short as well.
  if (count > kPartElements) return;
  std::vector<std::byte> again;
  SKERRY_CHECK(codec.Encode(values, again).ok());
  SKERRY_CHECK(again.size() == codec.MaxEncodedBytes(count));
}

}  // namespace

void FuzzDecoder(CodecId id, std::span<const std::byte> input) {
  if (input.size() < 2) return;
  const size_t count = ClaimedElements(input[0], input[1], /*pages=*/8);
  const Codec& codec = **FindCodec(id);
  const auto payload = input.subspan(2);
  CheckDecode(codec, payload, count);
  std::vector<std::byte> fitted(payload.begin(), payload.end());
  fitted.resize(codec.MaxEncodedBytes(count));
  CheckDecode(codec, fitted, count);
}

}  // namespace skerry::compression
