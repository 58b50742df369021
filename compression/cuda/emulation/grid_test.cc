// Kernels as a .cu file has them, on the devices that the emulation offers.
#include "compression/cuda/emulation/grid.h"

#include <cuda_runtime.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "compression/dense/cuda/launch.h"
#include "gtest/gtest.h"

namespace skerry::compression::cuda {
namespace {

constexpr unsigned kAll = 0xffffffffu;
constexpr unsigned kThreads = 128;

int Devices() {
  int devices = 0;
  EXPECT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  return devices;
}

__global__ void SumOfBlock(const int* values, int* sums) {
  __shared__ int partial[kThreads];
  const unsigned i = threadIdx.x;
  partial[i] = values[blockIdx.x * kThreads + i];
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (i < half) partial[i] += partial[i + half];
    __syncthreads();
  }
  if (i == 0) sums[blockIdx.x] = partial[0];
}

// As above without its barriers.
__global__ void RacingSumOfBlock(const int* values, int* sums) {
  __shared__ int partial[kThreads];
  const unsigned i = threadIdx.x;
  partial[i] = values[blockIdx.x * kThreads + i];
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (i < half) partial[i] += partial[i + half];
  }
  if (i == 0) sums[blockIdx.x] = partial[0];
}

struct Sums {
  std::vector<int> found = std::vector<int>(3, -1);
  std::vector<int> expected;
};

Sums RunSum(void (*kernel)(const int*, int*), int device) {
  std::vector<int> values(3 * kThreads);
  std::iota(values.begin(), values.end(), 1);
  Sums sums;
  for (size_t block = 0; block < 3; ++block) {
    const auto begin = values.begin() + static_cast<int>(block * kThreads);
    sums.expected.push_back(std::accumulate(begin, begin + kThreads, 0));
  }
  EXPECT_EQ(cudaSetDevice(device), cudaSuccess);
  EXPECT_EQ(
      Launch(kernel, 3, kThreads, nullptr, values.data(), sums.found.data()),
      cudaSuccess);
  return sums;
}

TEST(GridTest, AReductionIsTheSameInEveryOrder) {
  for (int device = 0; device < Devices(); ++device) {
    const Sums sums = RunSum(SumOfBlock, device);
    EXPECT_EQ(sums.found, sums.expected) << "device " << device;
  }
}

TEST(GridTest, AMissingBarrierIsFoundByAnotherOrder) {
  int wrong = 0;
  for (int device = 0; device < Devices(); ++device) {
    const Sums sums = RunSum(RacingSumOfBlock, device);
    wrong += sums.found != sums.expected ? 1 : 0;
  }
  EXPECT_GT(wrong, 0);
  EXPECT_LT(wrong, Devices());  // or one order would do
}

__global__ void TellOrder(std::vector<unsigned>* told) {
  told->push_back(blockIdx.x * blockDim.x + threadIdx.x);
}

TEST(GridTest, EveryThreadRunsOnceAndDevicesDifferInTheOrder) {
  std::set<std::vector<unsigned>> orders;
  for (int device = 0; device < Devices(); ++device) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    std::vector<unsigned> told;
    ASSERT_EQ(Launch(TellOrder, 4, 33, nullptr, &told), cudaSuccess);
    EXPECT_EQ(std::set<unsigned>(told.begin(), told.end()).size(), 4 * 33u);
    EXPECT_EQ(told.size(), 4 * 33u);
    orders.insert(told);
  }
  EXPECT_EQ(orders.size(), static_cast<size_t>(Devices()));
}

__global__ void IndexOf(unsigned* places) {
  const unsigned block =
      (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread =
      (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  ++places[block * blockDim.x * blockDim.y * blockDim.z + thread];
}

TEST(GridTest, BlocksAndThreadsHaveThreeNumbers) {
  std::vector<unsigned> places(2 * 3 * 4 * 5 * 6 * 7);
  ASSERT_EQ(Launch(IndexOf, {2, 3, 4}, {5, 6, 7}, nullptr, places.data()),
            cudaSuccess);
  EXPECT_EQ(places, std::vector<unsigned>(places.size(), 1u));
}

struct WarpTold {
  unsigned odd = 0;
  unsigned most = 0;
  unsigned below = 0;
  unsigned above = 0;
  unsigned same = 0;
};

// In two dimensions, as warps are cut from the threads in order.
__global__ void AskWarp(WarpTold* told) {
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  WarpTold& own = told[thread];
  own.odd = __ballot_sync(kAll, thread % 2);
  own.most = __reduce_max_sync(kAll, thread);
  own.below = __shfl_up_sync(kAll, thread, 3);
  own.above = __shfl_down_sync(kAll, thread, 5);
  own.same = __shfl_sync(kAll, thread, 7);
}

TEST(GridTest, LanesTellEachOther) {
  for (int device = 0; device < Devices(); ++device) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    std::vector<WarpTold> told(64);
    ASSERT_EQ(Launch(AskWarp, 1, {8, 8}, nullptr, told.data()), cudaSuccess);
    for (unsigned i = 0; i < 64; ++i) {
      const unsigned first = i / 32 * 32;
      EXPECT_EQ(told[i].odd, 0xaaaaaaaau);
      EXPECT_EQ(told[i].most, first + 31);
      EXPECT_EQ(told[i].below, i % 32 >= 3 ? i - 3 : i);
      EXPECT_EQ(told[i].above, i % 32 < 27 ? i + 5 : i);
      EXPECT_EQ(told[i].same, first + 7);
    }
  }
}

// Some lanes may meet while the others do something else.
__global__ void AskHalves(unsigned* told) {
  const unsigned lane = threadIdx.x;
  if (lane < 16) {
    told[lane] = __ballot_sync(0x0000ffffu, lane == 3);
  } else {
    told[lane] = __ballot_sync(0xffff0000u, lane == 20);
    told[lane] |= __ballot_sync(0xffff0000u, lane == 21);
  }
}

TEST(GridTest, TheLanesOfAMaskMeetAlone) {
  for (int device = 0; device < Devices(); ++device) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    std::vector<unsigned> told(32);
    ASSERT_EQ(Launch(AskHalves, 1, 32, nullptr, told.data()), cudaSuccess);
    EXPECT_EQ(told[0], 1u << 3);
    EXPECT_EQ(told[31], 3u << 20);
  }
}

__global__ void HalfReachesTheBarrier(int*) {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    __ballot_sync(kAll, 1);
  }
}

__global__ void BarriersOfTwoLines(int*) {
  if (threadIdx.x < 8) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void HalfOfTheWarpHasEnded(int*) {
  if (threadIdx.x >= 16) return;
  __ballot_sync(kAll, 1);
}

__global__ void NotInItsOwnMask(int*) { __ballot_sync(0x1u, 1); }

__global__ void ReadsFromBeyondTheMask(int*) {
  if (threadIdx.x < 16) __shfl_down_sync(0xffffu, 1, 1);
}

TEST(GridTest, WhatADeviceWouldHangOnIsReported) {
  const struct {
    void (*kernel)(int*);
    const char* told;
  } bad[] = {
      {HalfReachesTheBarrier, "waiting for ever"},
      {BarriersOfTwoLines, "at the barriers of lines"},
      {HalfOfTheWarpHasEnded, "16 at the operation of a warp"},
      {NotInItsOwnMask, "not in its own mask"},
      {ReadsFromBeyondTheMask, "from lane 16"},
  };
  for (int device = 0; device < Devices(); ++device) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    for (const auto& one : bad) {
      const cudaError_t error = Launch(one.kernel, 1, 32, nullptr, nullptr);
      EXPECT_EQ(error, cudaErrorLaunchTimeout) << one.told;
      const std::string why = cudaGetErrorString(error);
      EXPECT_NE(why.find(one.told), std::string::npos) << why;
    }
    // What was left in the middle is in nobody's way.
    const Sums sums = RunSum(SumOfBlock, device);
    EXPECT_EQ(sums.found, sums.expected);
  }
}

__global__ void OneEndsEarly(int* met) {
  if (threadIdx.x == 5) return;
  __syncthreads();
  atomicAdd(met, 1);
}

TEST(GridTest, ABarrierDoesNotWaitForThreadsThatHaveEnded) {
  for (int device = 0; device < Devices(); ++device) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    int met = 0;
    ASSERT_EQ(Launch(OneEndsEarly, 1, 64, nullptr, &met), cudaSuccess);
    EXPECT_EQ(met, 63);
  }
}

TEST(GridTest, SizesThatNoDeviceTakesAreRefused) {
  EXPECT_EQ(Launch(NotInItsOwnMask, 0, 32, nullptr, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(Launch(NotInItsOwnMask, 1, 1025, nullptr, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaSetDevice(Devices()), cudaErrorInvalidDevice);
}

TEST(GridTest, BitsAreTurnedAndCounted) {
  EXPECT_EQ(__brev(1u), 0x80000000u);
  EXPECT_EQ(__brev(0x0000c000u), 0x00030000u);
  EXPECT_EQ(__popc(0x80010001u), 3);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__umul64hi(1ull << 63, 6), 3ull);
}

}  // namespace
}  // namespace skerry::compression::cuda
