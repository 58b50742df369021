#include "compression/sparse/random_k.h"

#include <algorithm>

#include "base/random.h"
#include "base/status.h"
#include "compression/codec_errors.h"
#include "compression/parts.h"
#include "compression/sparse/inner_codec.h"
#include "compression/sparse/selection.h"

namespace skerry::compression {

absl::StatusOr<RandomK> RandomK::Make(const SparseOptions& options,
                                      uint64_t seed) {
  SKERRY_ASSIGN_OR_RETURN(const DenseCodec* inner, InnerOf(options));
  return RandomK(options.density, *inner, seed);
}

// Calls use(draw, place) for every draw, of which workspace.values has as
// many. Draw d is from [floor(d n / k), floor((d + 1) n / k)).
template <typename Use>
void RandomK::ForEachPlace(size_t elements, Workspace& workspace,
                           const Use& use) const {
  const size_t draws = workspace.values.size();
  if (draws == 0) return;
  EveryPart(draws, *workspace.executor, [&](size_t first, size_t last) {
    using Wide = unsigned __int128;  // products stay below 2^72
    const Wide scaled = static_cast<Wide>(first) * elements;
    auto begin = static_cast<size_t>(scaled / draws);
    auto remainder = static_cast<size_t>(scaled % draws);
    for (size_t draw = first; draw < last; ++draw) {
      remainder += elements % draws;
      const size_t carry = remainder >= draws ? 1 : 0;
      remainder -= carry * draws;
      const size_t size = elements / draws + carry;
      use(draw,
          begin + static_cast<size_t>(
                      static_cast<Wide>(RandomAt(seed_, draw)) * size >> 64));
      begin += size;
    }
    return true;
  });
}

size_t RandomK::MaxEncodedBytes(size_t elements) const {
  return inner_.MaxEncodedBytes(KeptElements(elements, density_));
}

absl::Status RandomK::Encode(std::span<const float> values,
                             std::vector<std::byte>& payload,
                             Workspace& workspace) const {
  if (!EveryFinite(values, workspace)) {
    return NotFiniteError(values, "random_k");
  }
  workspace.values.resize(KeptElements(values.size(), density_));
  ForEachPlace(values.size(), workspace, [&](size_t draw, size_t place) {
    workspace.values[draw] = values[place];
  });
  return inner_.Encode(workspace.values, payload, workspace);
}

absl::Status RandomK::Decode(std::span<const std::byte> payload,
                             std::span<float> values,
                             Workspace& workspace) const {
  EveryPart(values.size(), *workspace.executor, [&](size_t begin, size_t end) {
    std::fill(values.begin() + static_cast<ptrdiff_t>(begin),
              values.begin() + static_cast<ptrdiff_t>(end), 0.0f);
    return true;
  });
  return DecodeAdd(payload, values, workspace);
}

absl::Status RandomK::DecodeAdd(std::span<const std::byte> payload,
                                std::span<float> accumulators,
                                Workspace& workspace) const {
  workspace.values.resize(KeptElements(accumulators.size(), density_));
  SKERRY_RETURN_IF_ERROR(inner_.Decode(payload, workspace.values, workspace));
  ForEachPlace(accumulators.size(), workspace, [&](size_t draw, size_t place) {
    accumulators[place] += workspace.values[draw];
  });
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<const Codec>> MakeRandomK(
    const SparseOptions& options, uint64_t seed) {
  SKERRY_ASSIGN_OR_RETURN(RandomK made, RandomK::Make(options, seed));
  return std::make_unique<const RandomK>(made);
}

}  // namespace skerry::compression
