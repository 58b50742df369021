// compression/top_k/bands.h
//
// Estimates from samples where the k-th largest magnitude of a slice lies. The
// first sample is of the whole slice. The second is of the values between the
// bounds that the first one gave, the bands of the parts in a workspace.
#ifndef SKERRY_COMPRESSION_TOP_K_BANDS_H_
#define SKERRY_COMPRESSION_TOP_K_BANDS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "compression/top_k/cpu/select.h"
#include "compression/workspace.h"

namespace skerry::compression {

// The k-th largest magnitude almost certainly lies between these: it is at
// least `low` and below `high`.
struct Bounds {
  uint32_t low = 0;
  uint32_t high = cpu::kInfinityBits;
  size_t most = 0;  // that reach `low`, were the sample far off
};

// Estimates the bounds from about `size` of the values, and leaves these in
// workspace.sample.
Bounds BoundsOf(std::span<const float> values, size_t k, size_t size,
                Workspace& workspace);

// Returns a magnitude that divides the open values of the first `parts` as
// cpu::DividingMagnitude does: the k-th largest of all reaches it. All open
// values reach `low`. Leaves those open that may be the k-th largest, as far as
// samples tell, and counts those above in part.above. `room` is for the usual
// case. Requires: 1 <= k, and at least k values are open.
uint32_t DividingOf(size_t parts, size_t k, uint32_t low, size_t room,
                    Workspace& workspace);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TOP_K_BANDS_H_
