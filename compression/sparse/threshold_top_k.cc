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

namespace skerry::compression {
namespace {

constexpr size_t kPass = 4096;

class ThresholdTopK final : public Codec {
 public:
  ThresholdTopK(double density, const Codec& inner, ThresholdEstimator estimate)
      : density_(density), inner_(inner), estimate_(std::move(estimate)) {}

  CodecId id() const override { return CodecId::kThresholdTopK; }

  size_t MaxEncodedBytes(size_t elements) const override {
    return IndexedBytesMax(elements, CountMax(elements), inner_);
  }

  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload) const override {
    if (!cpu::AllFinite(values)) {
      return NotFiniteError(values, "threshold_top_k");
    }
    const size_t count_max = CountMax(values.size());
    if (count_max > std::numeric_limits<uint32_t>::max()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "threshold_top_k of ", count_max, " values: split the slice"));
    }
    std::vector<uint64_t> indices;
    if (!values.empty()) {
      const Threshold threshold =
          estimate_(values, KeptElements(values.size(), density_));
      const uint32_t bits =
          std::max<uint32_t>(cpu::MagnitudeBits(threshold.value), 1);
      for (size_t begin = 0;
           begin < values.size() && indices.size() < count_max;
           begin += kPass) {
        const size_t size = std::min(kPass, values.size() - begin);
        // All above the pattern before it, that is at least `bits`.
        cpu::CollectLargest(values.subspan(begin, size), bits - 1, 0, begin,
                            indices);
      }
      if (indices.size() > count_max) indices.resize(count_max);
    }
    return EncodeIndexed(values, indices, inner_, payload);
  }

  absl::Status Decode(std::span<const std::byte> payload,
                      std::span<float> values) const override {
    std::fill(values.begin(), values.end(), 0.0f);
    return DecodeAdd(payload, values);
  }

  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators) const override {
    SKERRY_ASSIGN_OR_RETURN(
        const IndexedValues decoded,
        DecodeIndexed(payload, accumulators.size(), 0,
                      CountMax(accumulators.size()), inner_));
    for (size_t i = 0; i < decoded.indices.size(); ++i) {
      accumulators[decoded.indices[i]] += decoded.values[i];
    }
    return absl::OkStatus();
  }

 private:
  size_t CountMax(size_t elements) const {
    return std::min(2 * KeptElements(elements, density_), elements);
  }

  const double density_;
  const Codec& inner_;
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
