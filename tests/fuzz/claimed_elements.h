// tests/fuzz/claimed_elements.h
//
// How many elements an input claims that a payload has. Nearly all claim few,
// so that runs are short; some claim several parts, which are groups of chunks
// as well, and a few more groups than one thread has ranges.
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
