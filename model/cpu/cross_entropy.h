// model/cpu/cross_entropy.h
//
// Softmax and cross-entropy of rows of logits.
#ifndef SKERRY_MODEL_CPU_CROSS_ENTROPY_H_
#define SKERRY_MODEL_CPU_CROSS_ENTROPY_H_

#include <cstdint>

namespace skerry::model::cpu {

// losses[r] = log(sum(exp(logits[r]))) - logits[r][targets[r]], in nats.
// Requires: 0 <= targets[r] < width.
void CrossEntropyForward(int rows, int width, const int32_t* targets,
                         const float* logits, float* losses);

// Replaces the logits by scale * (softmax(logits) - one at the target).
// Requires: 0 <= targets[r] < width.
void CrossEntropyBackward(int rows, int width, const int32_t* targets,
                          float scale, float* logits, float* losses);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_CROSS_ENTROPY_H_
