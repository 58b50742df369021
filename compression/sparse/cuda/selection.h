// compression/sparse/cuda/selection.h
//
// Finds on a device which values of a slice are sent. They are those of
// compression/sparse/selection.h. For the k largest, the slice is read six
// times: once for each eight bits of the k-th largest magnitude, once to count
// what reaches it, and once to write that in order.
//
// Functions that take a `stream` only queue work on it, and return the error of
// a launch. `*bad` is an int in device memory that the caller has set to 0.
// Once the work is done, it is not 0 if a value is not finite.
#ifndef SKERRY_COMPRESSION_SPARSE_CUDA_SELECTION_H_
#define SKERRY_COMPRESSION_SPARSE_CUDA_SELECTION_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace skerry::compression::cuda {

// Bytes of the scratch memory that a selection from `count` values takes. It is
// aligned to 8 bytes.
size_t SelectScratchBytes(size_t count);

// Writes the places and the values of the `kept` largest magnitudes, of equal
// ones the first, in order. Requires: 1 <= kept <= count < 2^40.
cudaError_t SelectTopK(const float* values, size_t count, size_t kept,
                       uint64_t* places, float* sent, std::byte* scratch,
                       int* bad, cudaStream_t stream);

// Writes the places and the values of the first `most` magnitudes that are at
// least `threshold` and above 0, in order. Writes how many these are to
// `*found`, in device memory. Requires: 1 <= count < 2^40, most >= 1, and room
// for `most`.
cudaError_t SelectAtLeast(const float* values, size_t count, float threshold,
                          size_t most, uint64_t* places, float* sent,
                          uint64_t* found, std::byte* scratch, int* bad,
                          cudaStream_t stream);

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_SPARSE_CUDA_SELECTION_H_
