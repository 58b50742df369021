#include "research/stateful/cached_threshold.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "compression/codec_errors.h"
#include "compression/threshold/threshold.h"
#include "compression/threshold/threshold_top_k.h"
#include "compression/top_k/cpu/select.h"
#include "compression/top_k/indexed_writer.h"
#include "compression/top_k/inner_codec.h"
#include "compression/top_k/top_k.h"

namespace skerry::compression {

absl::StatusOr<CachedThreshold> CachedThreshold::Make(
    const CachedThresholdOptions& options) {
  if (options.refresh_every < 1 || !(options.count_low <= 1.0) ||
      !(options.count_high >= 1.0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a threshold of ", options.refresh_every, " steps and counts from ",
        options.count_low, " to ", options.count_high, " cannot be kept"));
  }
  const SparseOptions sparse = {options.density, options.values};
  SKERRY_ASSIGN_OR_RETURN(const DenseCodec* inner, InnerOf(sparse));
  SKERRY_ASSIGN_OR_RETURN(
      std::unique_ptr<const Codec> reader,
      MakeThresholdTopK(
          sparse, [](std::span<const float> values, size_t target, Workspace&) {
            return ExactThreshold(values, target);
          }));
  return CachedThreshold(options, *inner, std::move(reader));
}

CachedThreshold::CachedThreshold(const CachedThresholdOptions& options,
                                 const DenseCodec& inner,
                                 std::unique_ptr<const Codec> reader)
    : options_(options), inner_(&inner), reader_(std::move(reader)) {}

// A selection that is cut is of more than twice the target.
bool CachedThreshold::Serves(const Selection& selection, size_t target,
                             std::span<const float> values,
                             Workspace& workspace) const {
  const auto count = static_cast<double>(selection.sent);
  const auto goal = static_cast<double>(target);
  if (count < options_.count_low * goal || count > options_.count_high * goal) {
    return false;
  }
  if (!selection.cut) return SelectedFinite(selection, workspace);
  return options_.count_high > 2.0 && EveryFinite(values, workspace);
}

absl::Status CachedThreshold::Encode(std::span<const float> values,
                                     std::vector<std::byte>& payload,
                                     Workspace& workspace) {
  const size_t target = KeptElements(values.size(), options_.density);
  const size_t most = std::min(2 * target, values.size());
  SKERRY_RETURN_IF_ERROR(CheckIndexedCount(most, "cached_threshold"));
  if (bits_ > 0 && age_ < options_.refresh_every && !values.empty()) {
    const Selection kept = SelectAtLeast(values, bits_, most, workspace);
    if (Serves(kept, target, values, workspace)) {
      ++age_;
      return EncodeIndexed(kept, *inner_, payload, workspace);
    }
  }
  if (!EveryFinite(values, workspace)) {
    return NotFiniteError(values, "cached_threshold");
  }
  Selection selection{.parts = 0};
  if (!values.empty()) {
    bits_ = cpu::MagnitudeBits(ExactThreshold(values, target).value);
    selection =
        SelectAtLeast(values, std::max<uint32_t>(bits_, 1), most, workspace);
    age_ = 1;
    ++refreshes_;
  }
  return EncodeIndexed(selection, *inner_, payload, workspace);
}

}  // namespace skerry::compression
