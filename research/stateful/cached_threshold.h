// research/stateful/cached_threshold.h
//
// DCT, dynamic communication thresholding (arXiv 2010.08899): thresholds drift
// slowly, so one that was found exactly serves for many steps. What it sends is
// a threshold_top_k payload; with ErrorFeedback around it, it is DCT for data
// parallelism.
#ifndef SKERRY_RESEARCH_STATEFUL_CACHED_THRESHOLD_H_
#define SKERRY_RESEARCH_STATEFUL_CACHED_THRESHOLD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/dense/dense_codec.h"
#include "compression/top_k/selection.h"
#include "compression/workspace.h"

namespace skerry::compression {

struct CachedThresholdOptions {
  double density = 0.01;  // in (0, 1]
  CodecId values = CodecId::kRawF32;
  int refresh_every = 1000;  // steps that one threshold serves; at least 1
  // A count outside of these multiples of the target refreshes at once.
  // Whatever they are, at most twice the target is sent: the first values that
  // reach the threshold.
  double count_low = 0.5;   // at most 1
  double count_high = 2.0;  // at least 1
};

// No Codec, as what it sends depends on the steps before.
class CachedThreshold {
 public:
  // Errors: InvalidArgument when an option is out of its domain.
  static absl::StatusOr<CachedThreshold> Make(
      const CachedThresholdOptions& options);

  // One step: replaces `payload`. One call at a time; the workspace's executor
  // changes nothing. A refresh is of one thread but for what it sends.
  //
  // Errors: InvalidArgument when a value is not finite, or more could be sent
  // than a payload can count. The threshold is then what it was.
  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload, Workspace& workspace);

  // Decodes what Encode makes, here or elsewhere, and has no state.
  const Codec& reader() const { return *reader_; }

  uint64_t refreshes() const { return refreshes_; }

 private:
  CachedThreshold(const CachedThresholdOptions& options,
                  const DenseCodec& inner, std::unique_ptr<const Codec> reader);

  bool Serves(const Selection& selection, size_t target,
              std::span<const float> values, Workspace& workspace) const;

  CachedThresholdOptions options_;
  const DenseCodec* inner_;
  std::unique_ptr<const Codec> reader_;
  uint32_t bits_ = 0;  // of the threshold; 0: none yet
  int age_ = 0;
  uint64_t refreshes_ = 0;
};

}  // namespace skerry::compression

#endif  // SKERRY_RESEARCH_STATEFUL_CACHED_THRESHOLD_H_
