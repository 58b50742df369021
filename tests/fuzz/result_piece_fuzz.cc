// Any bytes as a stored result: what decodes is finite, unless it is a sum of
// members that overflows.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "worker/core/result_piece.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const auto piece = std::as_bytes(std::span(data + 1, size - 1));
  std::vector<float> mean(data[0]);
  if (!skerry::worker::DecodeMean(piece, 3.0, mean).ok()) return 0;
  const bool is_mean = std::to_integer<int>(piece[4]) ==
                       static_cast<int>(skerry::worker::PieceShape::kMean);
  for (const float value : mean) {
    SKERRY_CHECK(!is_mean || std::isfinite(value));
  }
  return 0;
}
