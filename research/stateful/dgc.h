// research/stateful/dgc.h
//
// Deep gradient compression (arXiv 1712.01887): momentum is kept where the
// gradient is, before anything is dropped (momentum correction), what was sent
// starts from rest again (factor masking), and the density falls over a
// warm-up.
#ifndef SKERRY_RESEARCH_STATEFUL_DGC_H_
#define SKERRY_RESEARCH_STATEFUL_DGC_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/executor.h"
#include "compression/codec_interface.h"
#include "compression/dense/dense_codec.h"
#include "compression/workspace.h"

namespace skerry::compression {

struct DgcOptions {
  double density = 0.001;  // after the warm-up, in (0, 1]
  CodecId values = CodecId::kRawF32;
  float momentum = 0.9f;  // in [0, 1)
  bool nesterov = false;
  // The local gradient's norm is kept to clip_norm / sqrt(workers); 0: as it
  // is.
  double clip_norm = 0.0;
  int workers = 1;
  // Stages of a warm-up, each of `stage_steps` steps; 0 stages: none.
  int warmup_stages = 4;
  uint64_t stage_steps = 1;
  // Without masking, stale momentum keeps pushing what was sent long ago.
  bool mask = true;
};

// density^((stage + 1) / (stages + 1)): for 0.001 and 4 stages 25 %, 6.3 %,
// 1.6 %, 0.4 % and then 0.1 %.
double DgcDensity(const DgcOptions& options, uint64_t step);

class Dgc {
 public:
  // `loops` changes nothing that is made; it outlives this, and nobody else
  // runs loops on it during a call.
  //
  // Errors: InvalidArgument when an option is out of its domain or a step would
  // send more than 2^32 - 1 values; before memory is asked for.
  static absl::StatusOr<Dgc> Make(size_t elements, const DgcOptions& options,
                                  ParallelExecutor& loops = CallingThread());

  // One step: replaces `payload` with a top_k payload of density
  // DgcDensity(step).
  //
  // Errors: InvalidArgument when the gradient is not finite, or what it adds up
  // to is not; the state is then what it was.
  absl::Status Encode(std::span<const float> gradient, uint64_t step,
                      std::vector<std::byte>& payload);

  // What was not sent yet, and the momentum that feeds it.
  std::span<const float> velocity() const { return velocity_; }
  std::span<const float> momentum() const { return momentum_; }

 private:
  Dgc(size_t elements, const DgcOptions& options, const DenseCodec& inner,
      ParallelExecutor& loops);

  float ClipFactor(std::span<const float> gradient);
  void Accumulate(std::span<const float> gradient);

  DgcOptions options_;
  const DenseCodec* inner_;
  std::vector<float> momentum_;
  std::vector<float> velocity_;
  // What they become if the step succeeds.
  std::vector<float> next_momentum_;
  std::vector<float> next_velocity_;
  Workspace workspace_;
};

}  // namespace skerry::compression

#endif  // SKERRY_RESEARCH_STATEFUL_DGC_H_
