// tests/fuzz/claimed_elements.h
//
// Chooses how many elements a fuzzed payload claims to have. Nearly all inputs
// claim few, so that runs are short. Some claim several parts, and a few claim
// more groups of chunks than one thread has ranges.
#ifndef SKERRY_TESTS_FUZZ_CLAIMED_ELEMENTS_H_
#define SKERRY_TESTS_FUZZ_CLAIMED_ELEMENTS_H_

#include <cstddef>

#include "compression/parts.h"

namespace skerry::compression {

// Below 256 * `pages`, or, from a `high` of 0xf8 on, a whole part and up to
// 1535 elements more; of 0xfe, two and of 0xff, nine, and up to 255. Requires:
// `pages` <= 248.
inline size_t ClaimedElements(std::byte low, std::byte high, size_t pages) {
  constexpr size_t kOnePart = 0xf8;
  const auto bits = std::to_integer<size_t>(high);
  const auto rest = std::to_integer<size_t>(low);
  if (bits == 0xff) return 9 * kPartElements + rest;
  if (bits == 0xfe) return 2 * kPartElements + rest;
  if (bits >= kOnePart) return kPartElements + 256 * (bits - kOnePart) + rest;
  return rest + 256 * (bits % pages);
}

}  // namespace skerry::compression

#endif  // SKERRY_TESTS_FUZZ_CLAIMED_ELEMENTS_H_
