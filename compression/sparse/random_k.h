// compression/sparse/random_k.h
//
// Implements CodecId::kRandomK as a value. It has no memory of its own, so
// making a codec with a new seed for each step costs nothing.
#ifndef SKERRY_COMPRESSION_SPARSE_RANDOM_K_H_
#define SKERRY_COMPRESSION_SPARSE_RANDOM_K_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "compression/codec_interface.h"
#include "compression/dense_codec.h"
#include "compression/sparse/sparse_codec.h"

namespace skerry::compression {

// Sends one value of each of KeptElements equal parts of a slice. The seed,
// which is run, step and span mixed, decides which. A reader needs the writer's
// seed.
class RandomK final : public Codec {
 public:
  // Errors: as MakeTopK.
  static absl::StatusOr<RandomK> Make(const SparseOptions& options,
                                      uint64_t seed);

  // Returns the same codec with another seed.
  RandomK WithSeed(uint64_t seed) const {
    return RandomK(density_, inner_, seed);
  }

  CodecId id() const override { return CodecId::kRandomK; }
  size_t MaxEncodedBytes(size_t elements) const override;
  // The overrides below would hide the methods that need no workspace.
  using Codec::Decode;
  using Codec::DecodeAdd;
  using Codec::Encode;
  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload,
                      Workspace& workspace) const override;
  absl::Status Decode(std::span<const std::byte> payload,
                      std::span<float> values,
                      Workspace& workspace) const override;
  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators,
                         Workspace& workspace) const override;

 private:
  RandomK(double density, const DenseCodec& inner, uint64_t seed)
      : density_(density), inner_(inner), seed_(seed) {}

  template <typename Use>
  void ForEachPlace(size_t elements, Workspace& workspace,
                    const Use& use) const;

  const double density_;
  const DenseCodec& inner_;
  const uint64_t seed_;
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_SPARSE_RANDOM_K_H_
