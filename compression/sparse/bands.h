// compression/sparse/bands.h
//
// Estimates from samples where the k-th largest magnitude of a slice lies. The
// first sample is of the whole slice. The second is of the values between the
// bounds that the first one gave, the bands of the parts in a workspace.
#ifndef SKERRY_COMPRESSION_SPARSE_BANDS_H_
#define SKERRY_COMPRESSION_SPARSE_BANDS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "compression/cpu/select.h"
#include "compression/workspace.h"

namespace skerry::compression {

// The k-th largest magnitude almost certainly lies between these: it is at
// least `low` and below `high`.
struct Bounds {
  uint32_t low = 0;
  uint32_t high = cpu::kInfinityBits;
  size_t most = 0;  // that reach `low`, were the sample far off
};

// From about `size` of the values. Leaves them in workspace.sample.
Bounds BoundsOf(std::span<const float> values, size_t k, size_t size,
                Workspace& workspace);

// As cpu::DividingMagnitude of what is open in the first `parts`: what the k-th
// largest of all that has. All reach `low`. Leaves open what may be it, where
// samples tell, and counts what is above in part.above. `room` is for the usual
// case. Requires: 1 <= k, and no more than are open.
uint32_t DividingOf(size_t parts, size_t k, uint32_t low, size_t room,
                    Workspace& workspace);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_SPARSE_BANDS_H_
