// model/cpu/layernorm.h
//
// Layer normalization over the width of each token.
#ifndef SKERRY_MODEL_CPU_LAYERNORM_H_
#define SKERRY_MODEL_CPU_LAYERNORM_H_

namespace skerry::model::cpu {

// y = (x - mean) * rstd * weight + bias for `rows` rows of `width`, with
// rstd = 1 / sqrt(variance + epsilon) and the biased variance. mean[r] and
// rstd[r] are kept for the gradient.
void LayerNormForward(int rows, int width, float epsilon, const float* x,
                      const float* weight, const float* bias, float* y,
                      float* mean, float* rstd);

// Adds the gradients of weight and bias over the rows to dweight and dbias.
// `accumulate`: dx is added to, else written.
void LayerNormBackward(int rows, int width, const float* x, const float* weight,
                       const float* mean, const float* rstd, const float* dy,
                       bool accumulate, float* dx, float* dweight,
                       float* dbias);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_LAYERNORM_H_
