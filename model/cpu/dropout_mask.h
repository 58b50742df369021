// model/cpu/dropout_mask.h
//
// Decides which elements of a matrix dropout takes away. Word column % 4 of
// Philox decides element (row, column). The counter is
//
//   column / 4, row, stream, low half of sample
//
// and the key is the seed, with the high half of sample exclusive-or'd to its
// high half. Nothing else decides it, so a mask is the same on every machine
// and however the work is cut.
#ifndef SKERRY_MODEL_CPU_DROPOUT_MASK_H_
#define SKERRY_MODEL_CPU_DROPOUT_MASK_H_

#include <cstddef>
#include <cstdint>

#include "model/cpu/philox.h"

namespace skerry::model::cpu {

struct DropoutMask {
  uint64_t seed = 0;
  uint64_t sample = 0;
  uint32_t stream = 0;  // one for each matrix of a sample
  // Elements whose word is below it are dropped; 0: none.
  uint32_t threshold = 0;
  float kept = 1;  // multiplies the others: 1 / (1 - rate)

  constexpr PhiloxKey key() const {
    return {static_cast<uint32_t>(seed),
            static_cast<uint32_t>(seed >> 32) ^
                static_cast<uint32_t>(sample >> 32)};
  }
};

// Threshold and factor of `rate`, which is at least 0 and below 1; the rate is
// rounded down to a multiple of 2^-32.
constexpr DropoutMask MaskOfRate(double rate) {
  DropoutMask mask;
  mask.threshold = static_cast<uint32_t>(rate * 4294967296.0);
  mask.kept = static_cast<float>(1 / (1 - rate));
  return mask;
}

// Returns the factor of one element, 0 or `kept`. dropout-inl.h computes the
// same for many elements.
constexpr float DropoutFactor(const DropoutMask& mask, uint32_t row,
                              size_t column) {
  const PhiloxCounter words =
      Philox({static_cast<uint32_t>(column / 4), row, mask.stream,
              static_cast<uint32_t>(mask.sample)},
             mask.key());
  return words[column % 4] < mask.threshold ? 0.0f : mask.kept;
}

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_DROPOUT_MASK_H_
