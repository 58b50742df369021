// compression/top_k/cpu/finite.h
//
// Checks whether all values of a slice are finite.
#ifndef SKERRY_COMPRESSION_TOP_K_CPU_FINITE_H_
#define SKERRY_COMPRESSION_TOP_K_CPU_FINITE_H_

#include <span>

namespace skerry::compression::cpu {

bool AllFinite(std::span<const float> values);

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_TOP_K_CPU_FINITE_H_
