// compression/cuda/select.h
//
// The k-th largest magnitude, for .cu files: found digit by digit, the highest
// first. Magnitudes are compared as in compression/cpu/select.h. Groups are
// those of compression/cuda/scan.h.
#ifndef SKERRY_COMPRESSION_CUDA_SELECT_H_
#define SKERRY_COMPRESSION_CUDA_SELECT_H_

#include <cuda_runtime.h>

#include "compression/cuda/scan.h"

namespace skerry::compression::cuda {

constexpr unsigned kDigitBits = 8;
// A thread of a group has one each.
constexpr unsigned kDigits = 1u << kDigitBits;
static_assert(kDigits == kScanThreads);
// The bit at which the highest digit begins.
constexpr int kFirstShift = 24;

__device__ inline unsigned Magnitude(unsigned bits) {
  return bits & 0x7fffffffu;
}

// Returns a mask of the bits above the digit that begins at bit `shift`.
__device__ inline unsigned AboveDigit(int shift) {
  return shift == kFirstShift ? 0u : ~0u << (shift + kDigitBits);
}

template <typename T>
struct Digit {
  unsigned value;
  T left;  // the rank of the wanted one among those that have this digit
};

// Returns the digit of the `left`-th largest. Each thread brings how many have
// digit kDigits - 1 - threadIdx.x. Requires: 1 <= left <= all of them.
template <typename T>
__device__ Digit<T> DigitOf(T mine, T left) {
  __shared__ Digit<T> found;
  const T before = ScanGroup(mine).before;
  if (before < left && left - before <= mine) {
    found = {kDigits - 1 - threadIdx.x, left - before};
  }
  __syncthreads();
  return found;
}

struct Kth {
  unsigned magnitude;
  unsigned ties;  // how many that equal it are among the k
};

// Returns the k-th largest magnitude of the `size` patterns that load(i) gives.
// Requires: 1 <= k <= size, and all threads of the group may load all of them.
template <typename Load>
__device__ Kth KthLargest(const Load& load, unsigned size, unsigned k) {
  __shared__ unsigned counts[kDigits];
  Kth kth = {0, k};
  for (int shift = kFirstShift; shift >= 0; shift -= kDigitBits) {
    counts[threadIdx.x] = 0;
    __syncthreads();
    const unsigned known = AboveDigit(shift);
    for (unsigned i = threadIdx.x; i < size; i += kScanThreads) {
      const unsigned magnitude = Magnitude(load(i));
      if ((magnitude & known) != kth.magnitude) continue;
      atomicAdd(&counts[magnitude >> shift & (kDigits - 1)], 1u);
    }
    __syncthreads();
    const Digit<unsigned> digit =
        DigitOf(counts[kDigits - 1 - threadIdx.x], kth.ties);
    kth.magnitude |= digit.value << shift;
    kth.ties = digit.left;
  }
  return kth;
}

// Values that a group puts in order, and each of its threads.
constexpr unsigned kOrdered = 4096;
constexpr unsigned kOrderedRun = kOrdered / kScanThreads;
// Where value i of these is in shared memory, so that threads that read their
// runs side by side meet in no bank.
constexpr unsigned kOrderedSlots = kOrdered + kScanThreads;
__device__ inline unsigned OrderedSlot(unsigned i) {
  return i + i / kOrderedRun;
}

// How many magnitudes exceed one, and how many equal it.
struct Reached {
  unsigned greater;
  unsigned ties;
};

// Counts the run of this thread. `slots` has `size` patterns in their slots.
__device__ inline Reached OwnReached(const unsigned* slots, unsigned size,
                                     unsigned magnitude) {
  Reached own = {0, 0};
  const unsigned first = threadIdx.x * kOrderedRun;
  const unsigned last = min(first + kOrderedRun, size);
  for (unsigned i = first; i < last; ++i) {
    const unsigned one = Magnitude(slots[OrderedSlot(i)]);
    own.greater += one > magnitude ? 1 : 0;
    own.ties += one == magnitude ? 1 : 0;
  }
  return own;
}

// Returns the counts of the runs before this thread's, and leaves those of all
// runs in `total`.
__device__ inline Reached ReachedBefore(Reached own, Reached& total) {
  // Both at once, as neither exceeds kOrdered.
  const Scan<unsigned> both = ScanGroup(own.greater | own.ties << 16);
  total = {both.total & 0xffffu, both.total >> 16};
  return {both.before & 0xffffu, both.before >> 16};
}

// Calls emit(i, what comes before it) for each value of this thread's run that
// is greater, or one of the first `ties` that equal `magnitude`.
template <typename Emit>
__device__ void EmitOwn(const unsigned* slots, unsigned size,
                        unsigned magnitude, unsigned ties, Reached before,
                        const Emit& emit) {
  const unsigned first = threadIdx.x * kOrderedRun;
  const unsigned last = min(first + kOrderedRun, size);
  for (unsigned i = first; i < last; ++i) {
    const unsigned one = Magnitude(slots[OrderedSlot(i)]);
    const bool tie = one == magnitude;
    if (one > magnitude || (tie && before.ties < ties)) emit(i, before);
    before.greater += one > magnitude ? 1 : 0;
    before.ties += tie ? 1 : 0;
  }
}

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_CUDA_SELECT_H_
