// model/cpu/attention_blocks.h
//
// Computes the attention of attention.h block by block with products of a GEMM.
// It is for a GEMM whose products of a few hundred rows are much faster than
// the kernel there. It has no square matrix in memory either.
#ifndef SKERRY_MODEL_CPU_ATTENTION_BLOCKS_H_
#define SKERRY_MODEL_CPU_ATTENTION_BLOCKS_H_

#include <cstddef>
#include <span>

#include "model/cpu/attention.h"
#include "model/cpu/gemm.h"

namespace skerry::model::cpu {

size_t BlockAttentionScratchSize(int columns, int head_size);

// As AttentionForward and AttentionBackward.
void BlockAttentionForward(const GemmBackend& gemm, const AttentionShape& shape,
                           const float* query, const float* key,
                           const float* value, float* out, float* log_sum,
                           std::span<float> scratch);
void BlockAttentionBackward(const GemmBackend& gemm,
                            const AttentionShape& shape, const float* query,
                            const float* key, const float* value,
                            const float* out, const float* log_sum,
                            const float* dout,
                            const AttentionGradients& gradients,
                            std::span<float> scratch);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_ATTENTION_BLOCKS_H_
