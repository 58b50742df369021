#include "optimizer/inner/tensor.h"

#include <algorithm>

#include "base/check.h"

namespace skerry::optimizer {
namespace {

constexpr uint64_t kPieceElements = 16384;

}  // namespace

std::vector<Piece> CutIntoPieces(std::span<const Tensor> tensors) {
  std::vector<Piece> pieces;
  uint64_t after = 0;
  uint64_t state = 0;
  for (uint32_t t = 0; t < tensors.size(); ++t) {
    const ElementRange& range = tensors[t].range;
    SKERRY_CHECK(range.begin >= after && range.begin <= range.end);
    after = range.end;
    for (uint64_t at = range.begin; at < range.end; at += kPieceElements) {
      const uint64_t end = std::min(range.end, at + kPieceElements);
      pieces.push_back({{at, end}, state, t});
      state += end - at;
    }
  }
  return pieces;
}

uint64_t ElementCount(std::span<const Tensor> tensors) {
  uint64_t count = 0;
  for (const Tensor& tensor : tensors) count += tensor.range.size();
  return count;
}

}  // namespace skerry::optimizer
