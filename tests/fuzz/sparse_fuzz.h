// tests/fuzz/sparse_fuzz.h
//
// Gives any bytes to a sparse codec as a payload. Accepted bytes must decode to
// finite values, on one thread as on several, and DecodeAdd must add the values
// that Decode gives.
#ifndef SKERRY_TESTS_FUZZ_SPARSE_FUZZ_H_
#define SKERRY_TESTS_FUZZ_SPARSE_FUZZ_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "compression/codec_interface.h"
#include "compression/top_k/top_k.h"

namespace skerry::compression {

using SparseCodecs = std::vector<std::unique_ptr<const Codec>>;

// Densities and inner codecs of a family's targets.
std::vector<SparseOptions> FuzzedOptions();

// The first byte names one of `codecs`, two say how many elements are claimed
// (claimed_elements.h), the rest is payload; and once more with the payload's
// length made the largest, which is the only one for codecs of fixed size.
void FuzzSparse(const SparseCodecs& codecs, std::span<const std::byte> input);

}  // namespace skerry::compression

#endif  // SKERRY_TESTS_FUZZ_SPARSE_FUZZ_H_
