// optimizer/inner/matrix_products.h
//
// The interface to matrix products, which some optimizers need. The caller
// brings the library.
#ifndef SKERRY_OPTIMIZER_INNER_MATRIX_PRODUCTS_H_
#define SKERRY_OPTIMIZER_INNER_MATRIX_PRODUCTS_H_

namespace skerry::optimizer {

class MatrixProducts {
 public:
  virtual ~MatrixProducts() = default;
  // C = A B, or A B^T when `transpose_b`; row-major without gaps. A is m x k, B
  // k x n or n x k, C m x n. C overlaps neither. May be called from several
  // threads at once.
  virtual void Multiply(bool transpose_b, int m, int n, int k, const float* a,
                        const float* b, float* c) const = 0;
};

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_MATRIX_PRODUCTS_H_
