#include "compression/top_k/top_k.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compression/top_k/indexed_payload.h"
#include "compression/top_k/indexed_writer.h"
#include "compression/top_k/inner_codec.h"

namespace skerry::compression {
namespace {

class TopK final : public IndexedCodec {
 public:
  TopK(double density, const DenseCodec& inner)
      : IndexedCodec(inner), density_(density) {}

  CodecId id() const override { return CodecId::kTopK; }

  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload,
                      Workspace& workspace) const override {
    const size_t kept = KeptElements(values.size(), density_);
    SKERRY_RETURN_IF_ERROR(CheckIndexedCount(kept, "top_k"));
    return EncodeLargest(values, kept, inner(), "top_k", payload, workspace);
  }

 private:
  CountRange CountsOf(size_t elements) const override {
    const size_t kept = KeptElements(elements, density_);
    return {kept, kept};
  }

  const double density_;
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
  SKERRY_ASSIGN_OR_RETURN(const DenseCodec* inner, InnerOf(options));
  return std::make_unique<const TopK>(options.density, *inner);
}

}  // namespace skerry::compression
