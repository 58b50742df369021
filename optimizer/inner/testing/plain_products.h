// optimizer/inner/testing/plain_products.h
//
// Matrix products as they are defined, summed in float64.
#ifndef SKERRY_OPTIMIZER_INNER_TESTING_PLAIN_PRODUCTS_H_
#define SKERRY_OPTIMIZER_INNER_TESTING_PLAIN_PRODUCTS_H_

#include "optimizer/inner/matrix_products.h"

namespace skerry::optimizer {

class PlainProducts final : public MatrixProducts {
 public:
  void Multiply(bool transpose_b, int m, int n, int k, const float* a,
                const float* b, float* c) const override {
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int l = 0; l < k; ++l) {
          sum += double{a[i * k + l]} *
                 double{transpose_b ? b[j * k + l] : b[l * n + j]};
        }
        c[i * n + j] = static_cast<float>(sum);
      }
    }
  }
};

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_TESTING_PLAIN_PRODUCTS_H_
