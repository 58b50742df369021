// trainer/core/element_ranges.h
//
// Checks what a worker says about parts of the flat model state, and makes the
// copies that follow.
#ifndef SKERRY_TRAINER_CORE_ELEMENT_RANGES_H_
#define SKERRY_TRAINER_CORE_ELEMENT_RANGES_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "base/collective.h"
#include "trainer/core/trainer.h"

namespace skerry::trainer {

// Errors: InvalidArgument when a range is empty or ends behind `bound`.
absl::Status ValidateRanges(std::span<const ElementRange> ranges,
                            uint64_t bound);

// Copies `ranges` of `from` to the same places of `to`. Errors:
// InvalidArgument, with nothing copied, when a range is empty or leaves either
// array.
absl::Status CopyRanges(std::span<const ElementRange> ranges,
                        std::span<const float> from, std::span<float> to);

// Checks that `owners` ascend without gaps, that their ranks are below `size`,
// and that `loaded` covers all that `rank` owns. They have to cover [0,
// element_count), or all of `loaded` if every rank owns some. Errors:
// InvalidArgument.
absl::Status ValidateOwners(std::span<const RankRange> owners,
                            std::span<const ElementRange> loaded,
                            uint64_t element_count, int rank, int size);

// Broadcasts every range from its owner. Requires: ValidateOwners is OK.
absl::Status ShareOwned(std::span<const RankRange> owners,
                        Collective& collective, std::span<float> state);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_ELEMENT_RANGES_H_
