// base/hash.h
//
// XXH3 for integrity of frames and states. Not a defence against an enemy;
// content that must name itself uses base/sha256.h.
#ifndef SKERRY_BASE_HASH_H_
#define SKERRY_BASE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace skerry {

// XXH3-64 with seed 0 of `bytes`.
uint64_t Hash64(std::span<const std::byte> bytes);

template <typename T>
uint64_t Hash64Of(std::span<const T> values) {
  return Hash64(std::as_bytes(values));
}

// Order-dependent combination: the hash of a list from the hashes of its
// members.
uint64_t CombineHash(uint64_t seed, uint64_t value);

}  // namespace skerry

#endif  // SKERRY_BASE_HASH_H_
