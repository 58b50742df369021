// On the processor alone, as no codec has so many tiles in a test.
#include "compression/cuda/scan.h"

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "compression/cuda/launch.h"
#include "gtest/gtest.h"

namespace skerry::compression::cuda {
namespace {

__global__ void ScanOnce(const unsigned* mine, Scan<unsigned>* result) {
  result[threadIdx.x] = ScanGroup(mine[threadIdx.x]);
}

__global__ void ScanAll(TileSums* tiles, size_t count, TileSums* all) {
  const TileSums sums = ScanTiles(tiles, count);
  if (threadIdx.x == 0) *all = sums;
}

// Calls body() with every device.
template <typename Body>
void OnEveryDevice(const Body& body) {
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  for (int device = 0; device < devices; ++device) {
    SCOPED_TRACE(device);
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    body();
  }
}

TEST(ScanTest, EachThreadGetsTheSumOfThoseBefore) {
  OnEveryDevice([] {
    Random random(1);
    std::vector<unsigned> mine(kScanThreads);
    for (unsigned& one : mine) one = static_cast<unsigned>(random.Below(1000));
    std::vector<Scan<unsigned>> found(kScanThreads);
    ASSERT_EQ(
        Launch(ScanOnce, 1, kScanThreads, nullptr, mine.data(), found.data()),
        cudaSuccess);
    unsigned sum = 0;
    for (unsigned i = 0; i < kScanThreads; ++i) {
      EXPECT_EQ(found[i].before, sum) << i;
      sum += mine[i];
    }
    for (const Scan<unsigned>& one : found) EXPECT_EQ(one.total, sum);
  });
}

TEST(ScanTest, MoreTilesThanThreadsAreScanned) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{256}, size_t{700}}) {
    SCOPED_TRACE(count);
    OnEveryDevice([&] {
      Random random(2);
      std::vector<TileSums> tiles(count);
      for (TileSums& tile : tiles) {
        tile = {random.Below(4096), random.Below(uint64_t{1} << 50)};
      }
      std::vector<TileSums> found = tiles;
      TileSums all;
      ASSERT_EQ(
          Launch(ScanAll, 1, kScanThreads, nullptr, found.data(), count, &all),
          cudaSuccess);
      TileSums sum = {0, 0};
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(found[i].first, sum.first) << i;
        EXPECT_EQ(found[i].second, sum.second) << i;
        sum.first += tiles[i].first;
        sum.second += tiles[i].second;
      }
      EXPECT_EQ(all.first, sum.first);
      EXPECT_EQ(all.second, sum.second);
    });
  }
}

}  // namespace
}  // namespace skerry::compression::cuda
