// compression/cpu/places12.h
//
// Places below 4096 in 12 bits each.
#ifndef SKERRY_COMPRESSION_CPU_PLACES12_H_
#define SKERRY_COMPRESSION_CPU_PLACES12_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace skerry::compression::cpu {

// Two places take three bytes, lowest bit first; the last half byte is 0.
// Writes nothing behind.
void PackPlaces(std::span<const uint32_t> places, std::byte* out);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CPU_PLACES12_H_
