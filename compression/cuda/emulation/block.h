// compression/cuda/emulation/block.h
//
// Runs the threads of one thread block as fibers. Each runs until it waits for
// others. What a device would hang on is an error here: a barrier that a live
// thread never reaches, and an operation of a warp that a lane of its mask
// never reaches, or reaches from another line.
#ifndef SKERRY_COMPRESSION_CUDA_EMULATION_BLOCK_H_
#define SKERRY_COMPRESSION_CUDA_EMULATION_BLOCK_H_

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "compression/cuda/emulation/order.h"

// The indices of the thread that runs, and the sizes of its block and grid.
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
// gridDim describe. Returns what went wrong, or nothing for a good kernel.
// Requires: at most kThreadsMax threads; one block at a time.
std::string RunBlock(const std::function<void()>& kernel, Order& order);

// These are called in a kernel.

// Waits for every thread of the block that has not ended.
void MeetBlock(Where where);
// Waits for the lanes of `mask` and returns what they brought, which is valid
// until the next call.
const WarpValues& MeetWarp(unsigned mask, uint64_t mine, Where where);
// Reading what another lane brought is an error unless it is in `mask`.
void RequireLane(unsigned mask, unsigned lane, Where where);
// The lane of the thread that runs.
unsigned Lane();

}  // namespace skerry::compression::cuda::emulation

#endif  // SKERRY_COMPRESSION_CUDA_EMULATION_BLOCK_H_
