// compression/cuda/emulation/block.h
//
// The threads of one thread block, as fibers: each runs up to where it waits
// for others. What a device would hang on is an error here: a barrier that not
// every thread reaches which has not ended, and an operation of a warp for
// which a lane of its mask does not come, or comes from another line.
#ifndef SKERRY_COMPRESSION_CUDA_EMULATION_BLOCK_H_
#define SKERRY_COMPRESSION_CUDA_EMULATION_BLOCK_H_

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "compression/cuda/emulation/order.h"

// Of the thread that runs.
inline dim3 threadIdx(0, 0, 0);
inline dim3 blockIdx(0, 0, 0);
inline dim3 blockDim;
inline dim3 gridDim;

namespace skerry::compression::cuda::emulation {

inline constexpr unsigned kWarp = 32;
inline constexpr size_t kThreadsMax = 1024;

// What each lane brought.
using WarpValues = std::array<uint64_t, kWarp>;

struct Where {
  int line;
};

// Runs `kernel` in every thread of the block that blockIdx, blockDim and
// gridDim describe. Returned is what went wrong; nothing in a good kernel.
// Requires: at most kThreadsMax threads; one block at a time.
std::string RunBlock(const std::function<void()>& kernel, Order& order);

// In a kernel.

// Waits for every thread of the block that has not ended.
void MeetBlock(Where where);
// Waits for the lanes of `mask`; what they brought, until the next call.
const WarpValues& MeetWarp(unsigned mask, uint64_t mine, Where where);
// Reading what another lane brought is an error unless it is in `mask`.
void RequireLane(unsigned mask, unsigned lane, Where where);
// In the warp.
unsigned Lane();

}  // namespace skerry::compression::cuda::emulation

#endif  // SKERRY_COMPRESSION_CUDA_EMULATION_BLOCK_H_
