#include "worker/core/owed.h"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/check.h"
#include "base/status.h"
#include "compression/workspace.h"
#include "worker/core/owed_sums.h"
#include "worker/core/sums.h"

namespace skerry::worker {
namespace {

OwedSpan Measure(std::vector<float> values) {
  const Sums sums = SumsOf(values);
  OwedSpan owed;
  owed.sum = sums.sum;
  owed.squared = sums.squared;
  owed.values = std::make_shared<const std::vector<float>>(std::move(values));
  return owed;
}

// All but `delta_squared`.
absl::StatusOr<Produced> Add(const OwedSpan& owed, double weight,
                             std::span<const float> start,
                             std::span<const float> live) {
  SKERRY_CHECK(start.size() == live.size());
  SKERRY_CHECK(start.size() == owed.values->size());
  std::vector<float> values = *owed.values;
  AccumulateOwed(static_cast<float>(weight), start, live, values);
  Produced produced;
  produced.owed = Measure(std::move(values));
  produced.sum = produced.owed.sum - owed.sum;
  if (!std::isfinite(produced.owed.squared)) {
    return absl::InvalidArgumentError("a parameter is not finite");
  }
  return produced;
}

// `rest` is what stays before decay.
Settled Decay(const OwedSpan& before, std::vector<float> rest, double beta) {
  Settled settled;
  settled.taken = before.sum - SumsOf(rest).sum;
  const LostMass lost = DecayOwed(static_cast<float>(beta), rest);
  settled.lost = lost.sum;
  settled.lost_squared = lost.squared_norm;
  settled.owed = Measure(std::move(rest));
  return settled;
}

}  // namespace

OwedSpan NothingOwed(uint64_t elements) {
  return {std::make_shared<const std::vector<float>>(elements), 0, 0};
}

absl::StatusOr<Produced> AddRound(const OwedSpan& owed, double weight,
                                  std::span<const float> start,
                                  std::span<const float> live) {
  SKERRY_ASSIGN_OR_RETURN(Produced produced, Add(owed, weight, start, live));
  produced.delta_squared = SumsOfDifference(start, live).squared;
  return produced;
}

absl::StatusOr<Produced> AddValues(const OwedSpan& owed, double weight,
                                   std::span<const float> live) {
  return Add(owed, weight, std::vector<float>(live.size()), live);
}

absl::StatusOr<Settled> SettleSent(const OwedSpan& owed,
                                   compression::CodecId codec,
                                   std::span<const std::byte> sent,
                                   double beta) {
  SKERRY_ASSIGN_OR_RETURN(const compression::Codec* found,
                          compression::FindCodec(codec));
  std::vector<float> decoded(owed.values->size());
  SKERRY_RETURN_IF_ERROR(
      found->Decode(sent, decoded, compression::ThreadWorkspace()));
  std::vector<float> rest = *owed.values;
  SettleSent(decoded, rest);
  return Decay(owed, std::move(rest), beta);
}

Settled SettleOwned(const OwedSpan& owed, std::span<const float> error,
                    double beta) {
  SKERRY_CHECK(error.size() == owed.values->size());
  std::vector<float> rest = *owed.values;
  SettleOwned(error, rest);
  return Decay(owed, std::move(rest), beta);
}

}  // namespace skerry::worker
