// compression/chunk_top_k/cpu/places12.h
//
// Packs places below 4096 in 12 bits each.
#ifndef SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_PLACES12_H_
#define SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_PLACES12_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace skerry::compression::cpu {

// Two places take three bytes, lowest bit first; the last half byte is 0.
// Writes nothing behind.
void PackPlaces(std::span<const uint32_t> places, std::byte* out);

// Unpacks the places. Returns false if they do not ascend or the last half byte
// is not 0; the places are then unspecified, but below 4096. Reads only the
// bytes that PackPlaces writes.
bool UnpackPlaces(const std::byte* in, std::span<uint16_t> places);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CHUNK_TOP_K_CPU_PLACES12_H_
