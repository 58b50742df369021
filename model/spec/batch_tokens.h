// model/spec/batch_tokens.h
//
// Bounds the batches that a model computes at once.
#ifndef SKERRY_MODEL_SPEC_BATCH_TOKENS_H_
#define SKERRY_MODEL_SPEC_BATCH_TOKENS_H_

#include <limits>

namespace skerry::model {

// The largest number of tokens in a batch, rows times columns. GEMM libraries
// take such numbers as int.
inline constexpr int kBatchTokensMax = std::numeric_limits<int>::max() / 2;

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_BATCH_TOKENS_H_
