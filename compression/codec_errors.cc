#include "compression/codec_errors.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace skerry::compression {

absl::Status NotFiniteError(std::span<const float> values,
                            std::string_view codec) {
  size_t index = 0;
  while (index < values.size() && std::isfinite(values[index])) ++index;
  return absl::InvalidArgumentError(absl::StrCat(
      "value ", index, " of ", values.size(), " is ",
      index < values.size() && std::isnan(values[index]) ? "NaN" : "infinite",
      ", which ", absl::string_view(codec.data(), codec.size()),
      " cannot carry"));
}

}  // namespace skerry::compression
