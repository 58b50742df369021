// model/cpu/embedding.h
//
// Token and position tables.
#ifndef SKERRY_MODEL_CPU_EMBEDDING_H_
#define SKERRY_MODEL_CPU_EMBEDDING_H_

#include <cstdint>

namespace skerry::model::cpu {

// out[t] = tokens_table[ids[t]] + positions_table[(first + t) % columns] for
// `tokens` tokens of sequences of `columns`, the first of them at `first`.
// Either position table may be null, and then counts as zeros.
void EmbeddingForward(int tokens, int first, int columns, int width,
                      const int32_t* ids, const float* token_table,
                      const float* position_table, float* out);

// Adds the gradients of columns [begin, end) of both tables. Callers that work
// side by side take different columns, so each sum keeps its order.
void EmbeddingBackward(int tokens, int columns, int width, int begin, int end,
                       const int32_t* ids, const float* dout,
                       float* dtoken_table, float* dposition_table);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_EMBEDDING_H_
