#include "research/stateful/dgc.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "compression/codec_errors.h"
#include "compression/parts.h"
#include "compression/top_k/indexed_payload.h"
#include "compression/top_k/indexed_writer.h"
#include "compression/top_k/inner_codec.h"
#include "compression/top_k/selection.h"
#include "compression/top_k/top_k.h"
#include "research/stateful/factor_kernels.h"

namespace skerry::compression {

double DgcDensity(const DgcOptions& options, uint64_t step) {
  const auto stages = static_cast<uint64_t>(options.warmup_stages);
  const uint64_t stage =
      stages == 0 ? 0 : std::min(step / options.stage_steps, stages);
  return std::pow(options.density, static_cast<double>(stage + 1) /
                                       static_cast<double>(stages + 1));
}

absl::StatusOr<Dgc> Dgc::Make(size_t elements, const DgcOptions& options,
                              ParallelExecutor& loops) {
  if (!(options.momentum >= 0.0f && options.momentum < 1.0f)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "momentum ", options.momentum, " of dgc is not in [0, 1)"));
  }
  if (options.warmup_stages < 0 || options.stage_steps < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a warm-up of ", options.warmup_stages, " stages of ",
                     options.stage_steps, " steps is none of dgc"));
  }
  if (!(options.clip_norm >= 0.0) || options.workers < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("clipping to ", options.clip_norm, " for ",
                     options.workers, " workers is none of dgc"));
  }
  SKERRY_ASSIGN_OR_RETURN(const DenseCodec* inner,
                          InnerOf({options.density, options.values}));
  // No later step sends more than the first.
  SKERRY_RETURN_IF_ERROR(
      CheckIndexedCount(KeptElements(elements, DgcDensity(options, 0)), "dgc"));
  return Dgc(elements, options, *inner, loops);
}

Dgc::Dgc(size_t elements, const DgcOptions& options, const DenseCodec& inner,
         ParallelExecutor& loops)
    : options_(options),
      inner_(&inner),
      momentum_(elements, 0.0f),
      velocity_(elements, 0.0f),
      next_momentum_(elements),
      next_velocity_(elements),
      workspace_(loops) {}

// Sums of parts of one size, whatever the executor.
float Dgc::ClipFactor(std::span<const float> gradient) {
  if (options_.clip_norm == 0.0) return 1.0f;
  std::vector<double>& sums = workspace_.sums;
  sums.resize((gradient.size() + kPartElements - 1) / kPartElements);
  workspace_.executor->ForEach(sums.size(), [&](size_t index) {
    const size_t begin = index * kPartElements;
    const auto part = gradient.subspan(
        begin, std::min(kPartElements, gradient.size() - begin));
    sums[index] = Dot(part, part);
  });
  double squares = 0.0;
  for (const double sum : sums) squares += sum;
  const double bound =
      options_.clip_norm / std::sqrt(static_cast<double>(options_.workers));
  const double norm = std::sqrt(squares);
  return norm > bound ? static_cast<float>(bound / norm) : 1.0f;
}

void Dgc::Accumulate(std::span<const float> gradient) {
  const float clip = ClipFactor(gradient);
  const float mu = options_.momentum;
  EveryPart(gradient.size(), *workspace_.executor,
            [&](size_t begin, size_t end) {
              const float* given = gradient.data();
              const float* old_momentum = momentum_.data();
              const float* old_velocity = velocity_.data();
              float* __restrict momentum = next_momentum_.data();
              float* __restrict velocity = next_velocity_.data();
              if (options_.nesterov) {
                for (size_t i = begin; i < end; ++i) {
                  const float g = clip * given[i];
                  momentum[i] = (old_momentum[i] + g) * mu;
                  velocity[i] = old_velocity[i] + (momentum[i] + g);
                }
              } else {
                for (size_t i = begin; i < end; ++i) {
                  momentum[i] = mu * old_momentum[i] + clip * given[i];
                  velocity[i] = old_velocity[i] + momentum[i];
                }
              }
              return true;
            });
}

absl::Status Dgc::Encode(std::span<const float> gradient, uint64_t step,
                         std::vector<std::byte>& payload) {
  SKERRY_CHECK(gradient.size() == velocity_.size());
  if (!EveryFinite(gradient, workspace_)) {
    return NotFiniteError(gradient, "dgc");
  }
  Accumulate(gradient);
  const size_t kept = KeptElements(gradient.size(), DgcDensity(options_, step));
  SKERRY_RETURN_IF_ERROR(
      EncodeLargest(next_velocity_, kept, *inner_, "dgc", payload, workspace_));
  SKERRY_RETURN_IF_ERROR(
      DecodeIndexed(payload, gradient.size(), {kept, kept}, *inner_, workspace_,
                    [&](const SentRange& sent) {
                      for (size_t i = 0; i < sent.places.size(); ++i) {
                        const uint64_t at = sent.places[i];
                        // What quantisation took away stays, as any error does.
                        next_velocity_[at] -= sent.values[i];
                        if (options_.mask) next_momentum_[at] = 0.0f;
                      }
                    }));
  std::swap(momentum_, next_momentum_);
  std::swap(velocity_, next_velocity_);
  return absl::OkStatus();
}

}  // namespace skerry::compression
