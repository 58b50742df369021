#include "compression/stateful/dgc.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "compression/codec_errors.h"
#include "compression/cpu/finite.h"
#include "compression/dense_codec.h"
#include "compression/sparse/indexed_payload.h"
#include "compression/sparse/indexed_writer.h"
#include "compression/sparse/selection.h"
#include "compression/sparse/sparse_codec.h"

namespace skerry::compression {

double DgcDensity(const DgcOptions& options, uint64_t step) {
  const auto stages = static_cast<uint64_t>(options.warmup_stages);
  const uint64_t stage =
      stages == 0 ? 0 : std::min(step / options.stage_steps, stages);
  return std::pow(options.density, static_cast<double>(stage + 1) /
                                       static_cast<double>(stages + 1));
}

Dgc::Dgc(size_t elements, const DgcOptions& options)
    : options_(options), momentum_(elements, 0.0f), velocity_(elements, 0.0f) {
  SKERRY_CHECK(options.momentum >= 0.0f && options.momentum < 1.0f);
  SKERRY_CHECK(options.warmup_stages >= 0 && options.stage_steps >= 1);
  SKERRY_CHECK(options.workers >= 1);
}

float Dgc::ClipFactor(std::span<const float> gradient) const {
  if (options_.clip_norm <= 0.0) return 1.0f;
  double squares = 0.0;
  for (const float value : gradient) {
    squares += static_cast<double>(value) * value;
  }
  const double bound =
      options_.clip_norm / std::sqrt(static_cast<double>(options_.workers));
  const double norm = std::sqrt(squares);
  return norm > bound ? static_cast<float>(bound / norm) : 1.0f;
}

absl::Status Dgc::Encode(std::span<const float> gradient, uint64_t step,
                         std::vector<std::byte>& payload) {
  SKERRY_CHECK(gradient.size() == velocity_.size());
  if (!cpu::AllFinite(gradient)) return NotFiniteError(gradient, "dgc");
  const double density = DgcDensity(options_, step);
  if (!(density > 0.0 && density <= 1.0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("density ", density, " of dgc is not in (0, 1]"));
  }
  SKERRY_ASSIGN_OR_RETURN(const DenseCodec* inner,
                          FindDenseCodec(options_.values));
  const float clip = ClipFactor(gradient);
  std::vector<float>& momentum = next_momentum_;
  std::vector<float>& velocity = next_velocity_;
  momentum = momentum_;
  velocity = velocity_;
  const float mu = options_.momentum;
  for (size_t i = 0; i < gradient.size(); ++i) {
    const float g = clip * gradient[i];
    if (options_.nesterov) {
      momentum[i] = (momentum[i] + g) * mu;
      velocity[i] += momentum[i] + g;
    } else {
      momentum[i] = mu * momentum[i] + g;
      velocity[i] += momentum[i];
    }
  }
  const size_t kept = KeptElements(velocity.size(), density);
  Selection selection{.parts = 0};
  if (kept > 0) {
    const auto found = SelectTopK(velocity, kept, workspace_);
    if (!found.has_value()) return NotFiniteError(velocity, "dgc");
    selection = *found;
  }
  SKERRY_RETURN_IF_ERROR(EncodeIndexed(selection, *inner, payload, workspace_));
  SKERRY_RETURN_IF_ERROR(
      DecodeIndexed(payload, velocity.size(), {kept, kept}, *inner, workspace_,
                    [&](const SentRange& sent) {
                      for (size_t i = 0; i < sent.places.size(); ++i) {
                        const uint64_t at = sent.places[i];
                        // What quantisation took away stays, as any error does.
                        velocity[at] -= sent.values[i];
                        if (options_.mask) momentum[at] = 0.0f;
                      }
                    }));
  std::swap(momentum_, next_momentum_);
  std::swap(velocity_, next_velocity_);
  return absl::OkStatus();
}

}  // namespace skerry::compression
