// compression/top_k/cpu/marks.h
//
// Works on marks, which are a bit for each value: value i is bit i % 64 of word
// i / 64.
#ifndef SKERRY_COMPRESSION_TOP_K_CPU_MARKS_H_
#define SKERRY_COMPRESSION_TOP_K_CPU_MARKS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "compression/dense/cpu/stores.h"

namespace skerry::compression::cpu {

inline constexpr size_t kMarkedValues = 64;
// What is read, whatever it is, behind the values that PutMarked takes.
inline constexpr size_t kMarkedSlack = 16;

// How many bits are set.
size_t CountMarks(std::span<const uint64_t> words);

// Puts or adds one value after another at the places of set bits. Other places
// become zero, or stay as they are. A zero that is put is +0. Requires: as many
// values as bits, and no bits after `to`.
void PutMarked(const uint64_t* words, const float* values, std::span<float> to,
               Stores stores);
void AddMarked(const uint64_t* words, const float* values, std::span<float> to);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_TOP_K_CPU_MARKS_H_
