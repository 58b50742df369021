// compression/sparse/cuda/selection.h
//
// Which values of a slice are sent, found on a device: those of
// compression/sparse/selection.h. For the k largest the slice is read six
// times: once for each eight bits of the k-th largest magnitude, then to count
// and to write in order what reaches it.
//
// Both only queue work on `stream`; `*bad`, in device memory, is 0 before and
// becomes another number when a value is not finite. Returned is the error of a
// launch.
#ifndef SKERRY_COMPRESSION_SPARSE_CUDA_SELECTION_H_
#define SKERRY_COMPRESSION_SPARSE_CUDA_SELECTION_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace skerry::compression::cuda {

// Of the scratch memory that a selection takes, aligned to 8.
size_t SelectScratchBytes(size_t count);

// Writes the places and the values of the `kept` largest magnitudes, of equal
// ones the first, in order. Requires: 1 <= kept <= count < 2^40.
cudaError_t SelectTopK(const float* values, size_t count, size_t kept,
                       uint64_t* places, float* sent, std::byte* scratch,
                       int* bad, cudaStream_t stream);

// Writes the places and the values of magnitudes of at least `threshold` and
// above 0, in order, of more than `most` the first; and to `*found`, in device
// memory, how many. Requires: 1 <= count < 2^40, most >= 1, and room for
// `most`.
cudaError_t SelectAtLeast(const float* values, size_t count, float threshold,
                          size_t most, uint64_t* places, float* sent,
                          uint64_t* found, std::byte* scratch, int* bad,
                          cudaStream_t stream);

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_SPARSE_CUDA_SELECTION_H_
