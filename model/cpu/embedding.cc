#include "model/cpu/embedding.h"

#include <cstddef>
#include <cstring>

namespace skerry::model::cpu {

// Plain loops: the compiler's own vectors reach memory speed here.
void EmbeddingForward(int tokens, int first, int columns, int width,
                      const int32_t* ids, const float* token_table,
                      const float* position_table, float* out) {
  const size_t n = static_cast<size_t>(width);
  for (int t = 0; t < tokens; ++t) {
    const float* __restrict token = token_table + n * ids[t];
    float* __restrict row = out + n * t;
    if (position_table == nullptr) {
      std::memcpy(row, token, n * sizeof(float));
      continue;
    }
    const float* __restrict position =
        position_table + n * ((first + t) % columns);
    for (size_t i = 0; i < n; ++i) row[i] = token[i] + position[i];
  }
}

void EmbeddingBackward(int tokens, int columns, int width, int begin, int end,
                       const int32_t* ids, const float* dout,
                       float* dtoken_table, float* dposition_table) {
  const size_t n = static_cast<size_t>(width);
  for (int t = 0; t < tokens; ++t) {
    const float* __restrict row = dout + n * t;
    float* __restrict token = dtoken_table + n * ids[t];
    for (int i = begin; i < end; ++i) token[i] += row[i];
    if (dposition_table == nullptr) continue;
    float* __restrict position = dposition_table + n * (t % columns);
    for (int i = begin; i < end; ++i) position[i] += row[i];
  }
}

}  // namespace skerry::model::cpu
