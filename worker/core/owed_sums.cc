#include "worker/core/owed_sums.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/check.h"
#include "worker/core/sums.h"

namespace skerry::worker {
namespace {

// Values that stay in the fastest cache.
constexpr size_t kDecayedAtOnce = 2048;

}  // namespace

void AccumulateOwed(float weight, std::span<const float> start,
                    std::span<const float> live, std::span<float> owed) {
  SKERRY_CHECK(start.size() == owed.size() && live.size() == owed.size());
  const float* __restrict from = start.data();
  const float* __restrict to = live.data();
  float* __restrict out = owed.data();
  const size_t count = owed.size();
  for (size_t i = 0; i < count; ++i) out[i] += weight * (from[i] - to[i]);
}

void AddOwed(std::span<const float> owed, std::span<float> sum) {
  SKERRY_CHECK(owed.size() == sum.size());
  const float* __restrict term = owed.data();
  float* __restrict out = sum.data();
  const size_t count = sum.size();
  for (size_t i = 0; i < count; ++i) out[i] += term[i];
}

void MeanOfSum(std::span<const float> sum, float total_weight,
               std::span<float> mean) {
  SKERRY_CHECK(sum.size() == mean.size());
  SKERRY_CHECK(total_weight > 0.0f);
  for (size_t i = 0; i < mean.size(); ++i) mean[i] = sum[i] / total_weight;
}

void OwnerError(std::span<const float> sum, float total_weight,
                std::span<const float> decoded, std::span<float> error) {
  SKERRY_CHECK(sum.size() == error.size() && decoded.size() == error.size());
  for (size_t i = 0; i < error.size(); ++i) {
    error[i] = sum[i] - total_weight * decoded[i];
  }
}

void SettleSent(std::span<const float> sent, std::span<float> owed) {
  SKERRY_CHECK(sent.size() == owed.size());
  const float* __restrict term = sent.data();
  float* __restrict out = owed.data();
  const size_t count = owed.size();
  for (size_t i = 0; i < count; ++i) out[i] -= term[i];
}

void SettleOwned(std::span<const float> error, std::span<float> owed) {
  SKERRY_CHECK(error.size() == owed.size());
  std::copy(error.begin(), error.end(), owed.begin());
}

LostMass DecayOwed(float beta, std::span<float> owed) {
  SKERRY_CHECK(beta >= 0.0f && beta <= 1.0f);
  LostMass lost;
  if (beta == 1.0f) return lost;
  std::array<float, kDecayedAtOnce> before;
  for (size_t at = 0; at < owed.size(); at += before.size()) {
    const std::span<float> piece =
        owed.subspan(at, std::min(before.size(), owed.size() - at));
    std::copy(piece.begin(), piece.end(), before.begin());
    for (float& value : piece) value *= beta;
    const Sums gone =
        SumsOfDifference(std::span(before).first(piece.size()), piece);
    lost += {gone.sum, gone.squared};
  }
  return lost;
}

LostMass DropOwed(std::span<float> owed) { return DecayOwed(0.0f, owed); }

}  // namespace skerry::worker
