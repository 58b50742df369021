// model/spec/rotary.h
//
// Rotary position embeddings (Su et al. 2021): computes the angle by which a
// pair of a head's elements turns at a position, with the scalings that stretch
// a model's context. The formulas are those of transformers' LlamaModel.
#ifndef SKERRY_MODEL_SPEC_ROTARY_H_
#define SKERRY_MODEL_SPEC_ROTARY_H_

#include <span>

namespace skerry::model {

enum class RotaryScaling {
  kNone,
  kLinear,   // every frequency divided by the factor
  kDynamic,  // NTK-aware: a larger base for sequences beyond the context
  kLlama3,   // long waves divided, short ones kept, a ramp between
  kYarn,     // likewise by turns in the old context; scores warmed
};

struct RotaryConfig {
  RotaryScaling scaling = RotaryScaling::kNone;
  double theta = 10000;
  double factor = 1;
  // The context before stretching: kDynamic, kLlama3, kYarn.
  int original_positions = 0;
  double low_frequency_factor = 1;   // kLlama3
  double high_frequency_factor = 4;  // kLlama3
  double beta_fast = 32;             // kYarn
  double beta_slow = 1;              // kYarn
  bool truncate = true;              // kYarn: whole dimensions as borders
  // Multiplies cosines and sines. Only kYarn has another than 1.
  double attention_factor = 1;
};

// Radians a position for pair `pair` of the head_size / 2 pairs of a head, in
// sequences of `columns` tokens (which only kDynamic looks at).
//
// Requires: an even head_size, more than 2 where the scaling is kDynamic.
double RotaryFrequency(const RotaryConfig& config, int head_size, int columns,
                       int pair);

// cosines[t * head_size / 2 + i] and sines alike for as many positions t as
// the spans hold, in sequences of `columns` tokens.
void FillRotaryTables(const RotaryConfig& config, int head_size, int columns,
                      std::span<float> cosines, std::span<float> sines);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_ROTARY_H_
