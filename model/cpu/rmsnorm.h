// model/cpu/rmsnorm.h
//
// Root-mean-square normalization over the width of each token (Zhang and
// Sennrich 2019).
#ifndef SKERRY_MODEL_CPU_RMSNORM_H_
#define SKERRY_MODEL_CPU_RMSNORM_H_

namespace skerry::model::cpu {

// y = x * rstd * weight for `rows` rows of `width`, with
// rstd = 1 / sqrt(mean(x^2) + epsilon), which is kept for the gradient.
void RmsNormForward(int rows, int width, float epsilon, const float* x,
                    const float* weight, float* y, float* rstd);

// Adds the gradient of weight over the rows to dweight. `accumulate`: dx is
// added to, else written.
void RmsNormBackward(int rows, int width, const float* x, const float* weight,
                     const float* rstd, const float* dy, bool accumulate,
                     float* dx, float* dweight);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_RMSNORM_H_
