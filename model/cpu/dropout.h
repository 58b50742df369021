// model/cpu/dropout.h
//
// Dropout (Srivastava et al. 2014) of whole rows.
#ifndef SKERRY_MODEL_CPU_DROPOUT_H_
#define SKERRY_MODEL_CPU_DROPOUT_H_

#include <cstddef>

#include "model/cpu/dropout_mask.h"

namespace skerry::model::cpu {

// out[r][i] = in[r][i] times the factor of element (first + r, i) of `mask`,
// for `rows` rows of `width`; out may be in. Backward is the same with
// gradients.
void Dropout(const DropoutMask& mask, size_t first, size_t rows, size_t width,
             const float* in, float* out);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_DROPOUT_H_
