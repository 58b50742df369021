#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "compression/codec_errors.h"
#include "compression/dense_codec.h"
#include "compression/parts.h"
#include "compression/sparse/inner_codec.h"
#include "compression/sparse/selection.h"
#include "compression/sparse/sparse_codec.h"

namespace skerry::compression {
namespace {

class RandomK final : public Codec {
 public:
  RandomK(double density, const Codec& inner, uint64_t seed)
      : density_(density), inner_(inner), seed_(seed) {}

  CodecId id() const override { return CodecId::kRandomK; }

  size_t MaxEncodedBytes(size_t elements) const override {
    return inner_.MaxEncodedBytes(KeptElements(elements, density_));
  }

  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload,
                      Workspace& workspace) const override {
    if (!EveryFinite(values, workspace)) {
      return NotFiniteError(values, "random_k");
    }
    workspace.values.resize(KeptElements(values.size(), density_));
    ForEachPlace(values.size(), workspace, [&](size_t draw, size_t place) {
      workspace.values[draw] = values[place];
    });
    return inner_.Encode(workspace.values, payload, workspace);
  }

  absl::Status Decode(std::span<const std::byte> payload,
                      std::span<float> values,
                      Workspace& workspace) const override {
    EveryPart(values.size(), *workspace.executor,
              [&](size_t begin, size_t end) {
                std::fill(values.begin() + static_cast<ptrdiff_t>(begin),
                          values.begin() + static_cast<ptrdiff_t>(end), 0.0f);
                return true;
              });
    return DecodeAdd(payload, values, workspace);
  }

  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators,
                         Workspace& workspace) const override {
    workspace.values.resize(KeptElements(accumulators.size(), density_));
    SKERRY_RETURN_IF_ERROR(inner_.Decode(payload, workspace.values, workspace));
    ForEachPlace(accumulators.size(), workspace,
                 [&](size_t draw, size_t place) {
                   accumulators[place] += workspace.values[draw];
                 });
    return absl::OkStatus();
  }

 private:
  // Calls use(draw, place) for every draw, of which workspace.values has as
  // many. Draw d is from [floor(d n / k), floor((d + 1) n / k)).
  template <typename Use>
  void ForEachPlace(size_t elements, Workspace& workspace,
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

  const double density_;
  const Codec& inner_;
  const uint64_t seed_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const Codec>> MakeRandomK(
    const SparseOptions& options, uint64_t seed) {
  SKERRY_ASSIGN_OR_RETURN(const DenseCodec* inner, InnerOf(options));
  return std::make_unique<const RandomK>(options.density, *inner, seed);
}

}  // namespace skerry::compression
