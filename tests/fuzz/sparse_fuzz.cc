#include "tests/fuzz/sparse_fuzz.h"

#include <cmath>

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
  std::vector<float> sum_in_parts(count, 0.0f);
  BackwardExecutor executor(4);
  Workspace parts(executor);
  const bool accepted = codec.Decode(exact, values).ok();
  SKERRY_CHECK(accepted == codec.DecodeAdd(exact, sum).ok());
  SKERRY_CHECK(accepted == codec.Decode(exact, in_parts, parts).ok());
  SKERRY_CHECK(accepted == codec.DecodeAdd(exact, sum_in_parts, parts).ok());
  if (!accepted) return;
  SKERRY_CHECK(payload.size() <= codec.MaxEncodedBytes(count));
  for (size_t i = 0; i < count; ++i) {
    SKERRY_CHECK(std::isfinite(values[i]) && sum[i] == values[i]);
  }
  // So that runs with several parts are short as well.
  if (count > kPartElements) return;
  std::vector<std::byte> again;
  SKERRY_CHECK(codec.Encode(values, again).ok());
  SKERRY_CHECK(codec.Decode(again, sum).ok());
}

}  // namespace

std::vector<SparseOptions> FuzzedOptions() {
  return {{0.01, CodecId::kRawF32},    {0.5, CodecId::kRawF32},
          {0.01, CodecId::kNf4},       {0.5, CodecId::kNf4},
          {0.25, CodecId::kInt8Block}, {0.25, CodecId::kSign1Whole}};
}

void FuzzSparse(const SparseCodecs& codecs, std::span<const std::byte> input) {
  if (input.size() < 3) return;
  const Codec& codec =
      *codecs[std::to_integer<size_t>(input[0]) % codecs.size()];
  const size_t count = ClaimedElements(input[1], input[2], /*pages=*/32);
  const auto payload = input.subspan(3);
  CheckDecode(codec, payload, count);
  std::vector<std::byte> fitted(payload.begin(), payload.end());
  fitted.resize(codec.MaxEncodedBytes(count));
  CheckDecode(codec, fitted, count);
}

}  // namespace skerry::compression
