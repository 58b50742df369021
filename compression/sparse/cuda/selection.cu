#include <bit>

#include "compression/cuda/finite.h"
#include "compression/cuda/launch.h"
#include "compression/cuda/scan.h"
#include "compression/cuda/select.h"
#include "compression/sparse/cuda/selection.h"

namespace skerry::compression::cuda {
namespace {

constexpr unsigned kThreads = kScanThreads;
constexpr size_t kGroupsMax = 1024;
constexpr unsigned kPasses = 4;
constexpr unsigned kInfinityBits = 0x7f800000u;

// Counters have a type of 64 bits that atomicAdd takes.
using Count = unsigned long long;

// What is known of the k-th largest magnitude: its digits so far, and the
// number of it among the magnitudes that have them.
struct Search {
  unsigned magnitude;
  uint64_t ties;
};

struct Scratch {
  Search* search;
  Count* counts;    // of each digit, for each pass
  TileSums* tiles;  // how many are greater, and how many equal
};

__global__ void StartSearch(size_t kept, Scratch scratch) {
  for (unsigned pass = 0; pass < kPasses; ++pass) {
    scratch.counts[pass * kDigits + threadIdx.x] = 0;
  }
  if (threadIdx.x == 0) *scratch.search = {0, kept};
}

__global__ void CountDigits(const float* values, size_t count, int shift,
                            const Search* search, Count* counts, int* bad) {
  __shared__ unsigned own[kDigits];
  own[threadIdx.x] = 0;
  __syncthreads();
  const unsigned known = AboveDigit(shift);
  const unsigned digits = search->magnitude;
  const size_t step = static_cast<size_t>(gridDim.x) * kThreads;
  for (size_t i = static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x;
       i < count; i += step) {
    const unsigned magnitude = Magnitude(__float_as_uint(values[i]));
    if (magnitude >= kInfinityBits) *bad = 1;
    if ((magnitude & known) != digits) continue;
    atomicAdd(&own[magnitude >> shift & (kDigits - 1)], 1u);
  }
  __syncthreads();
  if (own[threadIdx.x] == 0) return;
  atomicAdd(&counts[threadIdx.x], static_cast<Count>(own[threadIdx.x]));
}

// One group.
__global__ void TakeDigit(int shift, const Count* counts, Search* search) {
  const Search before = *search;
  const uint64_t mine = counts[kDigits - 1 - threadIdx.x];
  const Digit<uint64_t> digit = DigitOf(mine, before.ties);
  if (threadIdx.x != 0) return;
  *search = {before.magnitude | digit.value << shift, digit.left};
}

// All that is greater, and nothing that is equal.
__global__ void SearchAbove(unsigned magnitude, Search* search) {
  *search = {magnitude, 0};
}

// How many there are, in the slots of this group.
__device__ unsigned LoadTile(const float* values, size_t count,
                             unsigned* slots) {
  const size_t begin = static_cast<size_t>(blockIdx.x) * kOrdered;
  const auto size =
      static_cast<unsigned>(min(count - begin, static_cast<size_t>(kOrdered)));
  for (unsigned i = threadIdx.x; i < size; i += kThreads) {
    slots[OrderedSlot(i)] = __float_as_uint(values[begin + i]);
  }
  __syncthreads();
  return size;
}

__global__ void CountTiles(const float* values, size_t count, Scratch scratch) {
  __shared__ unsigned slots[kOrderedSlots];
  const unsigned size = LoadTile(values, count, slots);
  Reached all;
  ReachedBefore(OwnReached(slots, size, scratch.search->magnitude), all);
  if (threadIdx.x == 0) scratch.tiles[blockIdx.x] = {all.greater, all.ties};
}

// One group. Leaves what comes before each tile, and how many are greater, but
// for more than `most`.
__global__ void PlaceTiles(TileSums* tiles, size_t tile_count, size_t most,
                           uint64_t* found) {
  const TileSums all = ScanTiles(tiles, tile_count);
  if (threadIdx.x != 0 || found == nullptr) return;
  *found = min(all.first, static_cast<uint64_t>(most));
}

__global__ void WriteTiles(const float* values, size_t count, Scratch scratch,
                           size_t most, uint64_t* places, float* sent) {
  __shared__ unsigned slots[kOrderedSlots];
  const unsigned size = LoadTile(values, count, slots);
  const Search found = *scratch.search;
  const TileSums before = scratch.tiles[blockIdx.x];
  const uint64_t ties_before = min(before.second, found.ties);
  const auto ties =
      static_cast<unsigned>(min(found.ties - ties_before, uint64_t{kOrdered}));
  Reached all;
  const Reached own =
      ReachedBefore(OwnReached(slots, size, found.magnitude), all);
  EmitOwn(slots, size, found.magnitude, ties, own,
          [&](unsigned i, Reached sooner) {
            const uint64_t at = before.first + ties_before + sooner.greater +
                                min(sooner.ties, ties);
            if (at >= most) return;
            places[at] = static_cast<uint64_t>(blockIdx.x) * kOrdered + i;
            sent[at] = __uint_as_float(slots[OrderedSlot(i)]);
          });
}

size_t Tiles(size_t count) { return (count + kOrdered - 1) / kOrdered; }

Scratch ScratchAt(std::byte* at) {
  Scratch scratch;
  scratch.search = reinterpret_cast<Search*>(at);
  scratch.counts = reinterpret_cast<Count*>(scratch.search + 1);
  scratch.tiles =
      reinterpret_cast<TileSums*>(scratch.counts + kPasses * kDigits);
  return scratch;
}

// Leaves the k-th largest magnitude in the scratch memory.
cudaError_t FindKth(const float* values, size_t count, size_t kept,
                    const Scratch& scratch, int* bad, cudaStream_t stream) {
  const size_t wanted = (count + kThreads - 1) / kThreads;
  const auto groups =
      static_cast<unsigned>(wanted < kGroupsMax ? wanted : kGroupsMax);
  cudaError_t error = Launch(StartSearch, 1, kDigits, stream, kept, scratch);
  for (unsigned pass = 0; pass < kPasses; ++pass) {
    const int shift = kFirstShift - static_cast<int>(pass * kDigitBits);
    Count* const counts = scratch.counts + pass * kDigits;
    if (error != cudaSuccess) return error;
    error = Launch(CountDigits, groups, kThreads, stream, values, count, shift,
                   scratch.search, counts, bad);
    if (error != cudaSuccess) return error;
    error =
        Launch(TakeDigit, 1, kDigits, stream, shift, counts, scratch.search);
  }
  return error;
}

// Writes what the search in the scratch memory has found, `most` at most.
cudaError_t WriteReached(const float* values, size_t count,
                         const Scratch& scratch, size_t most, uint64_t* places,
                         float* sent, uint64_t* found, cudaStream_t stream) {
  const size_t tile_count = Tiles(count);
  const auto groups = static_cast<unsigned>(tile_count);
  cudaError_t error =
      Launch(CountTiles, groups, kThreads, stream, values, count, scratch);
  if (error != cudaSuccess) return error;
  error = Launch(PlaceTiles, 1, kThreads, stream, scratch.tiles, tile_count,
                 most, found);
  if (error != cudaSuccess) return error;
  return Launch(WriteTiles, groups, kThreads, stream, values, count, scratch,
                most, places, sent);
}

}  // namespace

size_t SelectScratchBytes(size_t count) {
  return sizeof(Search) + kPasses * kDigits * sizeof(Count) +
         Tiles(count) * sizeof(TileSums);
}

cudaError_t SelectTopK(const float* values, size_t count, size_t kept,
                       uint64_t* places, float* sent, std::byte* scratch,
                       int* bad, cudaStream_t stream) {
  const Scratch parts = ScratchAt(scratch);
  const cudaError_t error = FindKth(values, count, kept, parts, bad, stream);
  if (error != cudaSuccess) return error;
  return WriteReached(values, count, parts, kept, places, sent, nullptr,
                      stream);
}

cudaError_t SelectAtLeast(const float* values, size_t count, float threshold,
                          size_t most, uint64_t* places, float* sent,
                          uint64_t* found, std::byte* scratch, int* bad,
                          cudaStream_t stream) {
  const Scratch parts = ScratchAt(scratch);
  const unsigned reached = std::bit_cast<unsigned>(threshold) & 0x7fffffffu;
  cudaError_t error = FlagNotFinite(values, count, bad, stream);
  if (error != cudaSuccess) return error;
  error = Launch(SearchAbove, 1, 1, stream, reached > 0 ? reached - 1 : 0u,
                 parts.search);
  if (error != cudaSuccess) return error;
  return WriteReached(values, count, parts, most, places, sent, found, stream);
}

}  // namespace skerry::compression::cuda
