// model/cpu/cached_attention.h
//
// Attention of one token to the cached keys and values of itself and of the
// tokens before it.
#ifndef SKERRY_MODEL_CPU_CACHED_ATTENTION_H_
#define SKERRY_MODEL_CPU_CACHED_ATTENTION_H_

#include <cstddef>
#include <span>

namespace skerry::model::cpu {

// `group` query heads lie side by side and share one key and value head.
struct CachedAttentionShape {
  int keys = 0;  // tokens that are attended to
  int head_size = 0;
  int group = 1;
  size_t stride = 0;  // floats from one key to the next, and of values alike
  float scale = 1;    // multiplies query . key
};

// For each head of the group,
// out = sum over s < keys of softmax(scale query . key[s]) value[s].
// `scores` has room for `keys` floats.
void CachedAttention(const CachedAttentionShape& shape, const float* query,
                     const float* key, const float* value,
                     std::span<float> scores, float* out);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_CACHED_ATTENTION_H_
