// compression/dense/cuda/run4.h
//
// Defines a run: four neighbouring values, or codes, that one thread reads or
// writes in one access. Each thread of a kernel keeps several of them in
// flight.
#ifndef SKERRY_COMPRESSION_DENSE_CUDA_RUN4_H_
#define SKERRY_COMPRESSION_DENSE_CUDA_RUN4_H_

#include <cuda_runtime.h>

#include <cstddef>

namespace skerry::compression::cuda {

constexpr int kRun = 4;

template <typename T>
struct alignas(kRun * sizeof(T)) Run4 {
  T at[kRun];
};

// Reads run `index` of the `count` elements at `from`, which is aligned to a
// run. Elements behind the last one are 0.
template <typename T>
__device__ Run4<T> LoadRun(const T* from, size_t count, size_t index) {
  const size_t first = index * kRun;
  if (first + kRun <= count) {
    return *reinterpret_cast<const Run4<T>*>(from + first);
  }
  Run4<T> run = {};
  for (int i = 0; i < kRun; ++i) {
    if (first + i < count) run.at[i] = from[first + i];
  }
  return run;
}

// Writes those elements of the run that lie before `count`.
template <typename T>
__device__ void StoreRun(const Run4<T>& run, T* to, size_t count,
                         size_t index) {
  const size_t first = index * kRun;
  if (first + kRun <= count) {
    *reinterpret_cast<Run4<T>*>(to + first) = run;
    return;
  }
  for (int i = 0; i < kRun; ++i) {
    if (first + i < count) to[first + i] = run.at[i];
  }
}

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_DENSE_CUDA_RUN4_H_
