#include "compression/threshold/threshold_top_k.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compression/codec_errors.h"
#include "compression/dense/dense_codec.h"
#include "compression/top_k/cpu/select.h"
#include "compression/top_k/indexed_payload.h"
#include "compression/top_k/indexed_writer.h"
#include "compression/top_k/inner_codec.h"
#include "compression/top_k/selection.h"

namespace skerry::compression {
namespace {

class ThresholdTopK final : public IndexedCodec {
 public:
  ThresholdTopK(double density, const DenseCodec& inner,
                ThresholdEstimator estimate, ThresholdGuess guess)
      : IndexedCodec(inner),
        density_(density),
        estimate_(std::move(estimate)),
        guess_(std::move(guess)) {}

  CodecId id() const override { return CodecId::kThresholdTopK; }

  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload,
                      Workspace& workspace) const override {
    const size_t most = CountsOf(values.size()).most;
    SKERRY_RETURN_IF_ERROR(CheckIndexedCount(most, "threshold_top_k"));
    std::optional<Selection> selection = SelectByGuess(values, workspace);
    if (!selection.has_value()) {
      if (!EveryFinite(values, workspace)) {
        return NotFiniteError(values, "threshold_top_k");
      }
      selection = Selection{.parts = 0};
      if (!values.empty()) {
        const size_t target = KeptElements(values.size(), density_);
        selection = SelectAtLeast(
            values, BitsOf(estimate_(values, target, workspace).value), most,
            workspace);
      }
    }
    return EncodeIndexed(*selection, inner(), payload, workspace);
  }

 private:
  static uint32_t BitsOf(float threshold) {
    return std::max<uint32_t>(cpu::MagnitudeBits(threshold), 1);
  }

  // Nothing when the guess is not good enough, or not everything is finite.
  std::optional<Selection> SelectByGuess(std::span<const float> values,
                                         Workspace& workspace) const {
    if (guess_ == nullptr || values.empty()) return std::nullopt;
    const size_t target = KeptElements(values.size(), density_);
    const std::optional<Guess> guess = guess_(values, target, workspace);
    if (!guess.has_value() || !std::isfinite(guess->value)) return std::nullopt;
    const size_t most = CountsOf(values.size()).most;
    Selection selection =
        SelectAtLeast(values, BitsOf(guess->value), most, workspace);
    if (selection.cut || !SelectedFinite(selection, workspace)) {
      return std::nullopt;
    }
    if (!IsClose(selection.sent, target)) {
      selection =
          SelectAtLeast(values, BitsOf(Moved(*guess, selection.sent, target)),
                        most, workspace);
    }
    if (selection.cut || 2 * selection.sent < target ||
        !SelectedFinite(selection, workspace)) {
      return std::nullopt;
    }
    return selection;
  }

  CountRange CountsOf(size_t elements) const override {
    return {0, std::min(2 * KeptElements(elements, density_), elements)};
  }

  const double density_;
  const ThresholdEstimator estimate_;
  const ThresholdGuess guess_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const Codec>> MakeThresholdTopK(
    const SparseOptions& options, ThresholdEstimator estimate,
    ThresholdGuess guess) {
  SKERRY_ASSIGN_OR_RETURN(const DenseCodec* inner, InnerOf(options));
  return std::make_unique<const ThresholdTopK>(
      options.density, *inner, std::move(estimate), std::move(guess));
}

}  // namespace skerry::compression
