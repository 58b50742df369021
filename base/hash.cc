#include "base/hash.h"

#include <xxhash.h>

namespace skerry {

uint64_t Hash64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

uint64_t CombineHash(uint64_t seed, uint64_t value) {
  return XXH3_64bits_withSeed(&value, sizeof(value), seed);
}

}  // namespace skerry
