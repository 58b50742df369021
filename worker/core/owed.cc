#include "worker/core/owed.h"

#include <algorithm>
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

// Values on which one pass follows another before the next ones: they stay in
// the caches, and a span does not.
constexpr size_t kBlock = 4096;

// Owed that is made block by block.
class Made {
 public:
  explicit Made(size_t elements) : elements_(elements) {
    values_.reserve(elements);
  }
  bool whole() const { return values_.size() == elements_; }
  // The next values of `all`, which has all elements.
  std::span<const float> Next(std::span<const float> all) const {
    return all.subspan(values_.size(),
                       std::min(kBlock, elements_ - values_.size()));
  }
  // Appends the next values of `all`, for the caller to change.
  std::span<float> Append(std::span<const float> all) {
    const std::span<const float> next = Next(all);
    values_.insert(values_.end(), next.begin(), next.end());
    return std::span(values_).last(next.size());
  }
  void Count(std::span<const float> block) { sums_ += SumsOf(block); }
  OwedSpan Finish() && {
    return {std::make_shared<const std::vector<float>>(std::move(values_)),
            sums_.sum, sums_.squared};
  }

 private:
  const size_t elements_;
  std::vector<float> values_;
  Sums sums_;
};

absl::StatusOr<Produced> Add(const OwedSpan& owed, double weight,
                             std::span<const float> start,
                             std::span<const float> live, bool is_distance) {
  SKERRY_CHECK(start.size() == live.size());
  SKERRY_CHECK(start.size() == owed.values->size());
  Produced produced;
  Made made(live.size());
  while (!made.whole()) {
    const std::span<const float> from = made.Next(start), to = made.Next(live);
    const std::span<float> block = made.Append(*owed.values);
    AccumulateOwed(static_cast<float>(weight), from, to, block);
    made.Count(block);
    if (is_distance) {
      produced.delta_squared += SumsOfDifference(from, to).squared;
    }
  }
  produced.owed = std::move(made).Finish();
  produced.sum = produced.owed.sum - owed.sum;
  if (!std::isfinite(produced.owed.squared)) {
    return absl::InvalidArgumentError("a parameter is not finite");
  }
  return produced;
}

// `take` changes a block of what was owed to what stays before decay, given
// the other values at its place.
template <typename Take>
Settled Settle(const OwedSpan& before, std::span<const float> other,
               double beta, Take take) {
  SKERRY_CHECK(other.size() == before.values->size());
  Made made(other.size());
  double rest = 0;
  LostMass lost;
  while (!made.whole()) {
    const std::span<const float> next = made.Next(other);
    const std::span<float> block = made.Append(*before.values);
    take(next, block);
    rest += SumsOf(block).sum;
    lost += DecayOwed(static_cast<float>(beta), block);
    made.Count(block);
  }
  Settled settled;
  settled.taken = before.sum - rest;
  settled.lost = lost.sum;
  settled.lost_squared = lost.squared_norm;
  settled.owed = std::move(made).Finish();
  return settled;
}

}  // namespace

OwedSpan NothingOwed(uint64_t elements) {
  return {std::make_shared<const std::vector<float>>(elements), 0, 0};
}

absl::StatusOr<Produced> AddRound(const OwedSpan& owed, double weight,
                                  std::span<const float> start,
                                  std::span<const float> live) {
  return Add(owed, weight, start, live, /*is_distance=*/true);
}

absl::StatusOr<Produced> AddValues(const OwedSpan& owed, double weight,
                                   std::span<const float> live) {
  return Add(owed, weight, std::vector<float>(live.size()), live,
             /*is_distance=*/false);
}

absl::StatusOr<Settled> SettleSent(const OwedSpan& owed,
                                   compression::CodecId codec,
                                   std::span<const std::byte> sent,
                                   double beta) {
  SKERRY_ASSIGN_OR_RETURN(const compression::Codec* found,
                          compression::FindCodec(codec));
  compression::Workspace& workspace = compression::ThreadWorkspace();
  const std::span<float> decoded = workspace.DecodedRoom(owed.values->size());
  SKERRY_RETURN_IF_ERROR(found->Decode(sent, decoded, workspace));
  return Settle(owed, decoded, beta,
                [](std::span<const float> term, std::span<float> rest) {
                  SettleSent(term, rest);
                });
}

Settled SettleOwned(const OwedSpan& owed, std::span<const float> error,
                    double beta) {
  return Settle(owed, error, beta,
                [](std::span<const float> term, std::span<float> rest) {
                  SettleOwned(term, rest);
                });
}

}  // namespace skerry::worker
