#include "compression/top_k/inner_codec.h"

#include "absl/strings/str_cat.h"

namespace skerry::compression {

absl::StatusOr<const DenseCodec*> InnerOf(const SparseOptions& options) {
  if (!(options.density > 0.0 && options.density <= 1.0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "density ", options.density, " of a sparse codec is not in (0, 1]"));
  }
  return FindDenseCodec(options.values);
}

}  // namespace skerry::compression
