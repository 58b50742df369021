#include <cstdint>

#include "compression/cpu/int8_block.h"
#include "compression/cuda/launch.h"
#include "compression/cuda/scan.h"
#include "compression/sparse/cuda/indexed_payload.h"

namespace skerry::compression::cuda {
namespace {

using Inner = cpu::Int8Block;

constexpr size_t kCountBytes = sizeof(uint32_t);
// Bytes of gaps that a thread reads in a row, and a group.
constexpr size_t kRunBytes = 16;
constexpr size_t kTileBytes = kRunBytes * kScanThreads;
// Of a gap of less than 2^63.
constexpr size_t kVarintMost = 9;
constexpr size_t kBlock = Inner::kElements;
constexpr float kScaleMin = Inner::kScaleMin;
constexpr float kScaleMax = Inner::kScaleMax;

// A payload in device memory.
struct Payload {
  const uint8_t* begin;
  size_t bytes;  // at least kCountBytes
  IndexedCounts counts;
  size_t elements;
};

// Where the parts of a payload are.
struct Parts {
  bool good;  // else the rest has no meaning
  size_t sent;
  size_t gap_bytes;
  const uint8_t* gaps;
  const uint8_t* scales;
  const uint8_t* codes;
};

__device__ uint32_t Word(const uint8_t* at) {
  return at[0] | static_cast<uint32_t>(at[1]) << 8 |
         static_cast<uint32_t>(at[2]) << 16 |
         static_cast<uint32_t>(at[3]) << 24;
}

__device__ Parts PartsOf(const Payload& payload) {
  Parts parts = {};
  parts.sent = Word(payload.begin);
  const size_t scale_bytes = (parts.sent + kBlock - 1) / kBlock * sizeof(float);
  const size_t value_bytes = scale_bytes + parts.sent;
  const size_t rest = payload.bytes - kCountBytes;
  // Every place takes a byte.
  parts.good = parts.sent >= payload.counts.least &&
               parts.sent <= payload.counts.most && value_bytes <= rest &&
               parts.sent <= rest - value_bytes;
  if (!parts.good) return parts;
  parts.gap_bytes = rest - value_bytes;
  parts.gaps = payload.begin + kCountBytes;
  parts.scales = parts.gaps + parts.gap_bytes;
  parts.codes = parts.scales + scale_bytes;
  return parts;
}

// The gap whose varint ends with byte `at`; false when it is too long or not
// the shortest.
__device__ bool GapUpTo(const uint8_t* gaps, size_t at, uint64_t& gap) {
  gap = gaps[at];
  size_t length = 1;
  for (; length <= at && gaps[at - length] >= 0x80; ++length) {
    if (length == kVarintMost) return false;
    gap = gap << 7 | (gaps[at - length] & 0x7fu);
  }
  return length == 1 || gaps[at] != 0;
}

// Calls use(gap) for each gap that ends in the bytes of this thread; a broken
// one ends it, and is false.
template <typename Use>
__device__ bool EveryGap(const Parts& parts, size_t elements, const Use& use) {
  const size_t begin = blockIdx.x * kTileBytes + threadIdx.x * kRunBytes;
  const size_t end = min(begin + kRunBytes, parts.gap_bytes);
  for (size_t at = begin; at < end; ++at) {
    if (parts.gaps[at] >= 0x80) continue;
    uint64_t gap;
    if (!GapUpTo(parts.gaps, at, gap) || gap >= elements) return false;
    use(gap);
  }
  return true;
}

// How many gaps end in the bytes of this thread, and what they span: each gap
// and the place behind it.
__device__ bool SumOwnGaps(const Parts& parts, size_t elements,
                           TileSums& sums) {
  sums = {0, 0};
  return EveryGap(parts, elements, [&](uint64_t gap) {
    ++sums.first;
    sums.second += gap + 1;
  });
}

__global__ void SumGaps(Payload payload, TileSums* tiles, int* bad) {
  const Parts parts = PartsOf(payload);
  if (!parts.good) {
    *bad = 1;
    return;
  }
  TileSums own;
  if (!SumOwnGaps(parts, payload.elements, own)) *bad = 1;
  const uint64_t gaps = ScanGroup(own.first).total;
  const uint64_t places = ScanGroup(own.second).total;
  if (threadIdx.x == 0) tiles[blockIdx.x] = {gaps, places};
}

// One group. Leaves what comes before each tile.
__global__ void PlaceTiles(Payload payload, TileSums* tiles, size_t tile_count,
                           int* bad) {
  const Parts parts = PartsOf(payload);
  if (!parts.good) return;
  const TileSums all = ScanTiles(tiles, tile_count);
  if (threadIdx.x != 0) return;
  const bool ends =
      parts.gap_bytes == 0 || parts.gaps[parts.gap_bytes - 1] < 0x80;
  if (!ends || all.first != parts.sent || all.second > payload.elements) {
    *bad = 1;
  }
}

// Value `index` of those that were sent.
__device__ float SentValue(const Parts& parts, size_t index, int* bad) {
  const float scale =
      __uint_as_float(Word(parts.scales + index / kBlock * sizeof(float)));
  const auto code = static_cast<int8_t>(parts.codes[index]);
  if (code == -128 ||
      !(scale == 0.0f || (scale >= kScaleMin && scale <= kScaleMax))) {
    *bad = 1;
  }
  return __fmul_rn(static_cast<float>(code), scale);
}

__global__ void AddSent(Payload payload, const TileSums* tiles, float* values,
                        int* bad) {
  const Parts parts = PartsOf(payload);
  if (!parts.good) return;
  TileSums own;
  SumOwnGaps(parts, payload.elements, own);
  const TileSums before = tiles[blockIdx.x];
  uint64_t index = before.first + ScanGroup(own.first).before;
  uint64_t next = before.second + ScanGroup(own.second).before;
  EveryGap(parts, payload.elements, [&](uint64_t gap) {
    const uint64_t place = next + gap;
    // Of a payload that is refused.
    if (index >= parts.sent || place >= payload.elements) return;
    values[place] = __fadd_rn(values[place], SentValue(parts, index, bad));
    ++index;
    next = place + 1;
  });
}

// At least as many as the gaps of a payload take, and one.
size_t Tiles(size_t bytes) { return bytes / kTileBytes + 1; }

}  // namespace

size_t IndexedScratchBytes(size_t bytes) {
  return Tiles(bytes) * sizeof(TileSums);
}

cudaError_t DecodeIndexed(IndexedCounts counts, const std::byte* payload,
                          size_t bytes, size_t count, float* values,
                          std::byte* scratch, int* bad, cudaStream_t stream) {
  if (count > 0) {
    const cudaError_t error =
        cudaMemsetAsync(values, 0, count * sizeof(float), stream);
    if (error != cudaSuccess) return error;
  }
  return DecodeAddIndexed(counts, payload, bytes, count, values, scratch, bad,
                          stream);
}

cudaError_t DecodeAddIndexed(IndexedCounts counts, const std::byte* payload,
                             size_t bytes, size_t count, float* accumulators,
                             std::byte* scratch, int* bad,
                             cudaStream_t stream) {
  if (bytes < kCountBytes) {
    return cudaMemsetAsync(bad, 1, sizeof(*bad), stream);
  }
  const Payload all = {reinterpret_cast<const uint8_t*>(payload), bytes, counts,
                       count};
  auto* const tiles = reinterpret_cast<TileSums*>(scratch);
  const size_t tile_count = Tiles(bytes);
  const auto groups = static_cast<unsigned>(tile_count);
  cudaError_t error =
      Launch(SumGaps, groups, kScanThreads, stream, all, tiles, bad);
  if (error != cudaSuccess) return error;
  error =
      Launch(PlaceTiles, 1, kScanThreads, stream, all, tiles, tile_count, bad);
  if (error != cudaSuccess) return error;
  return Launch(AddSent, groups, kScanThreads, stream, all, tiles, accumulators,
                bad);
}

}  // namespace skerry::compression::cuda
