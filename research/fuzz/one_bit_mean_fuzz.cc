// Any bytes as what members and owners of a two-phase mean send: what is
// refused leaves no trace, what is accepted stays finite.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "research/reduce/one_bit_mean.h"

namespace skerry::compression {
namespace {

constexpr int kMembers = 3;
constexpr int kRank = 1;

bool AllFinite(std::span<const float> values) {
  for (const float value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

// One payload each: the input cut in three, or cut to what would fit.
std::vector<OneBitMean::Payload> CutFor(std::span<const std::byte> input,
                                        const std::vector<size_t>& sizes) {
  std::vector<OneBitMean::Payload> payloads;
  for (const size_t size : sizes) {
    const auto mine = input.first(std::min(size, input.size()));
    payloads.emplace_back(mine.begin(), mine.end());
    input = input.subspan(mine.size());
  }
  return payloads;
}

void Fuzz(std::span<const std::byte> input) {
  if (input.size() < 3) return;
  const size_t count = std::to_integer<size_t>(input[0]) +
                       256 * (std::to_integer<size_t>(input[1]) % 8);
  const bool fitted = std::to_integer<unsigned>(input[2]) % 2 == 1;
  OneBitMean mean(count, kMembers, kRank, CodecId::kSign1);
  std::vector<OneBitMean::Payload> sent;
  SKERRY_CHECK(mean.Send(std::vector<float>(count, 0.5f), sent).ok());
  const auto bytes = input.subspan(3);
  std::vector<size_t> to_this(kMembers, sent[kRank].size());
  std::vector<size_t> to_all;
  for (const auto& payload : sent) to_all.push_back(payload.size());
  if (!fitted) to_this = to_all = std::vector(kMembers, bytes.size() / 3);

  const std::vector<float> before(mean.owner_error().begin(),
                                  mean.owner_error().end());
  OneBitMean::Payload result;
  const bool reduced = mean.Reduce(CutFor(bytes, to_this), result).ok();
  if (reduced) SKERRY_CHECK(result.size() == sent[kRank].size());
  std::vector<float> out(count);
  const bool ended = mean.Receive(CutFor(bytes, to_all), out).ok();
  if (ended) SKERRY_CHECK(AllFinite(out));
  if (reduced && ended) {
    mean.Keep();
    SKERRY_CHECK(AllFinite(mean.owner_error()));
    SKERRY_CHECK(AllFinite(mean.member_error()));
    return;
  }
  SKERRY_CHECK(
      std::equal(before.begin(), before.end(), mean.owner_error().begin()));
}

}  // namespace
}  // namespace skerry::compression

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  skerry::compression::Fuzz(std::as_bytes(std::span(data, size)));
  return 0;
}
