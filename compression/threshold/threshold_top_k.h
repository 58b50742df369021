// compression/threshold/threshold_top_k.h
//
// CodecId::kThresholdTopK sends the values that reach an estimated threshold,
// which costs a few passes instead of a selection. So their number is only near
// the target.
#ifndef SKERRY_COMPRESSION_THRESHOLD_THRESHOLD_TOP_K_H_
#define SKERRY_COMPRESSION_THRESHOLD_THRESHOLD_TOP_K_H_

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "compression/codec_interface.h"
#include "compression/threshold/threshold.h"
#include "compression/top_k/top_k.h"

namespace skerry::compression {

// Finds a threshold for about `target` of finite values, 1 <= target <=
// values.size(). Called from any thread.
using ThresholdEstimator = std::function<Threshold(
    std::span<const float> values, size_t target, Workspace& workspace)>;

// Looks at a part of the values, which may be anything: quick, and now and then
// far off. Nothing where it cannot tell.
using ThresholdGuess = std::function<std::optional<Guess>(
    std::span<const float> values, size_t target, Workspace& workspace)>;

// Sends magnitudes of at least the threshold and above 0, in index order and at
// most twice KeptElements; the remainder stays owed. Zeros encode to 4 bytes.
// A guess counts as the threshold where between 0.9 and 1.1 of the target reach
// it. Elsewhere it is moved once by how many do, and counts where that are
// between half and twice the target; or else, and without one, the estimate
// does.
//
// Errors: as MakeTopK.
absl::StatusOr<std::unique_ptr<const Codec>> MakeThresholdTopK(
    const SparseOptions& options, ThresholdEstimator estimate,
    ThresholdGuess guess = nullptr);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_THRESHOLD_THRESHOLD_TOP_K_H_
