// worker/core/owed.h
//
// Computes what a worker owes: what it has produced and the model has not
// received (PROTOCOL 4.4). This is the arithmetic of worker/core/owed_sums.h
// over immutable snapshots, with the sums that audits compare. Owed changes
// only through the three functions here.
#ifndef SKERRY_WORKER_CORE_OWED_H_
#define SKERRY_WORKER_CORE_OWED_H_

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "compression/codec.h"
#include "worker/core/values.h"

namespace skerry::worker {

// Owed of one span.
struct OwedSpan {
  Values values;
  double sum = 0;      // over the elements, for audits
  double squared = 0;  // L2 norm, squared
};

OwedSpan NothingOwed(uint64_t elements);

struct Produced {
  OwedSpan owed;
  double sum = 0;            // by which the owed sum rose
  double delta_squared = 0;  // of delta
};

// Returns owed + weight * (start - live), at the end of a round.
//
// Errors: InvalidArgument when a value of it is not finite.
absl::StatusOr<Produced> AddRound(const OwedSpan& owed, double weight,
                                  std::span<const float> start,
                                  std::span<const float> live);

// Returns owed + weight * (0 - live), for a span that is averaged: what is owed
// is the values themselves. They are no distance, so `delta_squared` is 0.
//
// Errors: as above.
absl::StatusOr<Produced> AddValues(const OwedSpan& owed, double weight,
                                   std::span<const float> live);

struct Settled {
  OwedSpan owed;
  double taken = 0;         // sum of what the model received
  double lost = 0;          // sum of what beta discarded
  double lost_squared = 0;  // its squared norm
};

// Settles owed after a commit, for a span that another member summed or that
// all did. It subtracts what was sent and keeps the share `beta` of the rest.
//
// Errors: DataLoss when `sent` does not decode.
absl::StatusOr<Settled> SettleSent(const OwedSpan& owed,
                                   compression::CodecId codec,
                                   std::span<const std::byte> sent,
                                   double beta);
// Settles owed for a span that this worker summed: all of it was taken, and the
// error of encoding the mean is owed from now on.
Settled SettleOwned(const OwedSpan& owed, std::span<const float> error,
                    double beta);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_OWED_H_
