// model/cpu/attention.h
//
// Causal self-attention of the query heads of one sequence that share a key and
// a value head, without a square matrix in memory. It goes through keys tile by
// tile with a running softmax. Backward computes the scores of a tile again
// from the logarithm of each query's softmax denominator (Dao et al. 2022).
#ifndef SKERRY_MODEL_CPU_ATTENTION_H_
#define SKERRY_MODEL_CPU_ATTENTION_H_

#include <cstddef>
#include <span>

#include "model/cpu/dropout_mask.h"

namespace skerry::model::cpu {

// `group` query heads lie side by side and share one key and value head. query,
// key and value point at the first column of the first token; the strides are
// floats from one token to the next.
struct AttentionShape {
  int columns = 0;    // tokens of the sequence
  int head_size = 0;  // floats of one query
  int group = 1;
  size_t query_stride = 0;
  size_t key_stride = 0;  // of key and value
  size_t out_stride = 0;  // of out and its gradient
  float scale = 1;        // multiplies query . key
  // Drops probabilities where there is one: of query t and key s what it says
  // of row t and column s. It is the mask of the first head of the group; the
  // streams of the others follow.
  const DropoutMask* dropout = nullptr;
};

// Floats of scratch that either direction needs.
size_t AttentionScratchSize(int columns, int head_size);

// For each head of the group,
// out[t] = sum over s <= t of softmax(scale query[t] . key[s]) value[s].
// log_sum[head * columns + t] is kept for backward.
void AttentionForward(const AttentionShape& shape, const float* query,
                      const float* key, const float* value, float* out,
                      float* log_sum, std::span<float> scratch);

struct AttentionGradients {
  float* query;  // written, with the strides of the inputs
  float* key;    // the sum over the group
  float* value;
};
void AttentionBackward(const AttentionShape& shape, const float* query,
                       const float* key, const float* value, const float* out,
                       const float* log_sum, const float* dout,
                       const AttentionGradients& gradients,
                       std::span<float> scratch);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_ATTENTION_H_
