// model/cpu/rows.h
//
// Sums along and across rows: bias, its gradient, the residual stream.
#ifndef SKERRY_MODEL_CPU_ROWS_H_
#define SKERRY_MODEL_CPU_ROWS_H_

#include <cstddef>

namespace skerry::model::cpu {

// out[r] = bias for every row, ready for a product to be added to it.
void FillRows(int rows, int width, const float* bias, float* out);

// out[r] = x[r] + bias: the residual stream before a product is added to it.
void AddBias(int rows, int width, const float* x, const float* bias,
             float* out);

// out = a + b; out may be either.
void Add(size_t count, const float* a, const float* b, float* out);

// sums[i] += sum over rows of x[r][i], for i in [begin, end). Callers that
// work side by side take different columns, so each sum keeps its order.
void AddColumnSums(int rows, int width, int begin, int end, const float* x,
                   float* sums);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_ROWS_H_
