#include "compression/sparse/threshold_top_k.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "compression/codec_errors.h"
#include "compression/cpu/select.h"
#include "compression/dense_codec.h"
#include "compression/sparse/indexed_payload.h"
#include "compression/sparse/selection.h"

namespace skerry::compression {
namespace {

class ThresholdTopK final : public IndexedCodec {
 public:
  ThresholdTopK(double density, const Codec& inner, ThresholdEstimator estimate)
      : IndexedCodec(inner),
        density_(density),
        estimate_(std::move(estimate)) {}

  CodecId id() const override { return CodecId::kThresholdTopK; }

  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload,
                      Workspace& workspace) const override {
    if (!EveryFinite(values, workspace)) {
      return NotFiniteError(values, "threshold_top_k");
    }
    const size_t most = CountsOf(values.size()).most;
    if (most > std::numeric_limits<uint32_t>::max()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "threshold_top_k of ", most, " values: split the slice"));
    }
    Selection selection{.parts = 0};
    if (!values.empty()) {
      const Threshold threshold =
          estimate_(values, KeptElements(values.size(), density_), workspace);
      selection = SelectAtLeast(
          values, std::max<uint32_t>(cpu::MagnitudeBits(threshold.value), 1),
          most, workspace);
    }
    return EncodeIndexed(selection, inner(), payload, workspace);
  }

 private:
  CountRange CountsOf(size_t elements) const override {
    return {0, std::min(2 * KeptElements(elements, density_), elements)};
  }

  const double density_;
  const ThresholdEstimator estimate_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const Codec>> MakeThresholdTopK(
    const SparseOptions& options, ThresholdEstimator estimate) {
  // The same domain, and the same words for what is outside of it.
  SKERRY_RETURN_IF_ERROR(MakeTopK(options).status());
  SKERRY_ASSIGN_OR_RETURN(const Codec* inner, FindDenseCodec(options.values));
  return std::make_unique<const ThresholdTopK>(options.density, *inner,
                                               std::move(estimate));
}

}  // namespace skerry::compression
