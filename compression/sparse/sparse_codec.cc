#include "compression/sparse/sparse_codec.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status.h"
#include "compression/codec_errors.h"
#include "compression/cpu/select.h"
#include "compression/dense_codec.h"
#include "compression/sparse/indexed_payload.h"

namespace skerry::compression {
namespace {

absl::StatusOr<const Codec*> CheckedInner(const SparseOptions& options) {
  if (!(options.density > 0.0 && options.density <= 1.0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "density ", options.density, " of a sparse codec is not in (0, 1]"));
  }
  return FindDenseCodec(options.values);
}

class TopK final : public Codec {
 public:
  TopK(double density, const Codec& inner) : density_(density), inner_(inner) {}

  CodecId id() const override { return CodecId::kTopK; }

  size_t MaxEncodedBytes(size_t elements) const override {
    return IndexedBytesMax(elements, KeptElements(elements, density_), inner_);
  }

  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload) const override {
    const size_t kept = KeptElements(values.size(), density_);
    if (kept > std::numeric_limits<uint32_t>::max()) {
      return absl::InvalidArgumentError(
          absl::StrCat("top_k of ", kept, " values: split the slice"));
    }
    if (!cpu::AllFinite(values)) return NotFiniteError(values, "top_k");
    std::vector<uint64_t> indices;
    indices.reserve(kept);
    cpu::CollectTopK(values, kept, 0, indices);
    return EncodeIndexed(values, indices, inner_, payload);
  }

  absl::Status Decode(std::span<const std::byte> payload,
                      std::span<float> values) const override {
    std::fill(values.begin(), values.end(), 0.0f);
    return DecodeAdd(payload, values);
  }

  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators) const override {
    const size_t kept = KeptElements(accumulators.size(), density_);
    SKERRY_ASSIGN_OR_RETURN(
        const IndexedValues decoded,
        DecodeIndexed(payload, accumulators.size(), kept, kept, inner_));
    for (size_t i = 0; i < decoded.indices.size(); ++i) {
      accumulators[decoded.indices[i]] += decoded.values[i];
    }
    return absl::OkStatus();
  }

 private:
  const double density_;
  const Codec& inner_;
};

class RandomK final : public Codec {
 public:
  RandomK(double density, const Codec& inner, uint64_t seed)
      : density_(density), inner_(inner), seed_(seed) {}

  CodecId id() const override { return CodecId::kRandomK; }

  size_t MaxEncodedBytes(size_t elements) const override {
    return inner_.MaxEncodedBytes(KeptElements(elements, density_));
  }

  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload) const override {
    if (!cpu::AllFinite(values)) return NotFiniteError(values, "random_k");
    const size_t kept = KeptElements(values.size(), density_);
    std::vector<float> sent(kept);
    for (size_t part = 0; part < kept; ++part) {
      sent[part] = values[IndexOf(part, kept, values.size())];
    }
    return inner_.Encode(sent, payload);
  }

  absl::Status Decode(std::span<const std::byte> payload,
                      std::span<float> values) const override {
    std::fill(values.begin(), values.end(), 0.0f);
    return DecodeAdd(payload, values);
  }

  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators) const override {
    const size_t kept = KeptElements(accumulators.size(), density_);
    std::vector<float> sent(kept);
    SKERRY_RETURN_IF_ERROR(inner_.Decode(payload, sent));
    for (size_t part = 0; part < kept; ++part) {
      accumulators[IndexOf(part, kept, accumulators.size())] += sent[part];
    }
    return absl::OkStatus();
  }

 private:
  // Part `part` of `parts` equal ones is [part * n / parts, (part + 1) * n /
  // parts), rounded down; products stay below 2^72.
  size_t IndexOf(size_t part, size_t parts, size_t elements) const {
    const auto edge = [&](size_t at) {
      return static_cast<size_t>(static_cast<unsigned __int128>(at) * elements /
                                 parts);
    };
    const size_t begin = edge(part);
    const size_t size = edge(part + 1) - begin;
    const uint64_t drawn = RandomAt(seed_, part);
    return begin + static_cast<size_t>(
                       static_cast<unsigned __int128>(drawn) * size >> 64);
  }

  const double density_;
  const Codec& inner_;
  const uint64_t seed_;
};

}  // namespace

size_t KeptElements(size_t elements, double density) {
  if (elements == 0) return 0;
  const double wanted = std::ceil(static_cast<double>(elements) * density);
  if (!(wanted < static_cast<double>(elements))) return elements;
  return std::max<size_t>(static_cast<size_t>(wanted), 1);
}

absl::StatusOr<std::unique_ptr<const Codec>> MakeTopK(
    const SparseOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const Codec* inner, CheckedInner(options));
  return std::make_unique<const TopK>(options.density, *inner);
}

absl::StatusOr<std::unique_ptr<const Codec>> MakeRandomK(
    const SparseOptions& options, uint64_t seed) {
  SKERRY_ASSIGN_OR_RETURN(const Codec* inner, CheckedInner(options));
  return std::make_unique<const RandomK>(options.density, *inner, seed);
}

}  // namespace skerry::compression
