// optimizer/inner/tensor.h
//
// What an optimizer knows of the flat array of parameters.
#ifndef SKERRY_OPTIMIZER_INNER_TENSOR_H_
#define SKERRY_OPTIMIZER_INNER_TENSOR_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/element_range.h"

namespace skerry::optimizer {

struct Tensor {
  ElementRange range;
  bool decayed = false;  // weight decay applies
  // The shape of a matrix between two hidden layers, which lies row-major. Both
  // are 0 for everything else, embeddings and the head included.
  int rows = 0;
  int columns = 0;

  bool is_hidden_matrix() const { return rows > 0; }
};

// A run of one tensor's elements that one parallel body updates: small enough
// to stay within a core's own cache, and far more work than its dispatch.
struct Piece {
  ElementRange range;
  uint64_t state = 0;  // where its part of a packed state begins
  uint32_t tensor = 0;
};

// Cuts tensors into pieces, in order. An optimizer's state holds just the
// elements of `tensors`, one after the other.
//
// Requires: tensors ascend and do not overlap.
std::vector<Piece> CutIntoPieces(std::span<const Tensor> tensors);

// Elements of all tensors.
uint64_t ElementCount(std::span<const Tensor> tensors);

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_TENSOR_H_
