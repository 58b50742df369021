#include <cstdint>

#include "compression/cpu/int8_block.h"
#include "compression/cuda/int8_block.h"
#include "compression/cuda/int8_scale.h"
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
// The most bytes that a gap takes, as gaps are less than 2^63.
constexpr size_t kVarintMost = 9;
constexpr size_t kBlock = Inner::kElements;

// A payload in device memory.
struct Payload {
  const uint8_t* begin;
  size_t bytes;  // at least kCountBytes
  IndexedCounts counts;
  size_t elements;
};

// Where the parts of a payload are.
struct Parts {
  bool good;       // else the rest has no meaning
  bool marked;     // `gaps` are a bit for each value
  size_t stretch;  // so many places share a scale, where marked
  size_t scale_count;
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

constexpr size_t kByteMarks = 8;
// Beside bits so many places share a scale, or 2, 4 or 8 times as many: the
// least with which it serves so many values in the mean.
constexpr size_t kStretchMin = 256;
constexpr size_t kStretchSent = 192;
static_assert(kStretchMin % (kRunBytes * kByteMarks) == 0,
              "a thread's bits share a scale");

__host__ __device__ size_t MarkBytes(size_t elements) {
  return (elements + kByteMarks - 1) / kByteMarks;
}

// As compression::IsMarked.
__host__ __device__ bool IsMarked(size_t elements, size_t sent) {
  return sent > 0 && sent >= MarkBytes(elements);
}

// How many places share a scale. Requires: IsMarked().
__host__ __device__ size_t StretchOf(size_t elements, size_t sent) {
  size_t stretch = kStretchMin;
  while (stretch * sent < kStretchSent * elements) stretch *= 2;
  return stretch;
}

__host__ __device__ size_t Stretches(size_t elements, size_t stretch) {
  return (elements + stretch - 1) / stretch;
}

__device__ Parts PartsOf(const Payload& payload) {
  Parts parts = {};
  parts.sent = Word(payload.begin);
  parts.marked = IsMarked(payload.elements, parts.sent);
  if (parts.marked) parts.stretch = StretchOf(payload.elements, parts.sent);
  parts.scale_count = parts.marked ? Stretches(payload.elements, parts.stretch)
                                   : (parts.sent + kBlock - 1) / kBlock;
  const size_t scale_bytes = parts.scale_count * sizeof(float);
  const size_t value_bytes = scale_bytes + parts.sent;
  const size_t rest = payload.bytes - kCountBytes;
  parts.good = parts.sent >= payload.counts.least &&
               parts.sent <= payload.counts.most && value_bytes <= rest;
  if (!parts.good) return parts;
  parts.gap_bytes = rest - value_bytes;
  // Without bits, every place takes a byte.
  parts.good = parts.marked ? parts.gap_bytes == MarkBytes(payload.elements)
                            : parts.gap_bytes >= parts.sent;
  const uint8_t* const first = payload.begin + kCountBytes;
  parts.gaps = parts.marked ? first + scale_bytes : first;
  parts.scales = parts.marked ? first : first + parts.gap_bytes;
  parts.codes = first + scale_bytes + parts.gap_bytes;
  return parts;
}

__device__ float ScaleAt(const Parts& parts, size_t index) {
  return __uint_as_float(Word(parts.scales + index * sizeof(float)));
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

// The first byte of gaps that is this thread's.
__device__ size_t OwnRun() {
  return blockIdx.x * kTileBytes + threadIdx.x * kRunBytes;
}

// Calls use(place) for each bit that is set in the bytes of this thread.
template <typename Use>
__device__ void EveryMark(const Parts& parts, const Use& use) {
  const size_t begin = OwnRun();
  const size_t end = min(begin + kRunBytes, parts.gap_bytes);
  for (size_t at = begin; at < end; ++at) {
    for (unsigned bit = 0; bit < kByteMarks; ++bit) {
      if (parts.gaps[at] >> bit & 1u) use(at * kByteMarks + bit);
    }
  }
}

// Calls use(gap) for each gap that ends in the bytes of this thread; a broken
// one ends it, and is false.
template <typename Use>
__device__ bool EveryGap(const Parts& parts, size_t elements, const Use& use) {
  const size_t begin = OwnRun();
  const size_t end = min(begin + kRunBytes, parts.gap_bytes);
  for (size_t at = begin; at < end; ++at) {
    if (parts.gaps[at] >= 0x80) continue;
    uint64_t gap;
    if (!GapUpTo(parts.gaps, at, gap) || gap >= elements) return false;
    use(gap);
  }
  return true;
}

// Sums up this thread's bytes: how many gaps end in them, and what these span
// with the place behind each, or how many bits are set.
__device__ bool SumOwnGaps(const Parts& parts, size_t elements,
                           TileSums& sums) {
  sums = {0, 0};
  if (parts.marked) {
    EveryMark(parts, [&](size_t) { ++sums.first; });
    return true;
  }
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
  const size_t step = static_cast<size_t>(gridDim.x) * kScanThreads;
  for (size_t i = static_cast<size_t>(blockIdx.x) * kScanThreads + threadIdx.x;
       i < parts.scale_count; i += step) {
    if (!IsInt8Scale(ScaleAt(parts, i))) *bad = 1;
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
  const unsigned last =
      parts.gap_bytes == 0 ? 0 : parts.gaps[parts.gap_bytes - 1];
  const unsigned behind =
      static_cast<unsigned>(parts.gap_bytes * kByteMarks - payload.elements);
  const bool ends =
      parts.marked ? last >> (kByteMarks - behind) == 0 : last < 0x80;
  if (!ends || all.first != parts.sent || all.second > payload.elements) {
    *bad = 1;
  }
}

// Value `index` of those that were sent.
__device__ float SentValue(const Parts& parts, size_t index, float scale,
                           int* bad) {
  const auto code = static_cast<int8_t>(parts.codes[index]);
  if (!IsInt8Code(code)) *bad = 1;
  return __fmul_rn(static_cast<float>(code), scale);
}

// Adds what the bits of this thread send, of which others send `index` before.
__device__ void AddMarked(const Payload& payload, const Parts& parts,
                          uint64_t index, float* values, int* bad) {
  const size_t begin = OwnRun() * kByteMarks;
  if (begin >= payload.elements) return;
  const float scale = ScaleAt(parts, begin / parts.stretch);
  EveryMark(parts, [&](size_t place) {
    // Only a payload that is refused has such values.
    if (index >= parts.sent || place >= payload.elements) return;
    values[place] =
        __fadd_rn(values[place], SentValue(parts, index, scale, bad));
    ++index;
  });
}

__global__ void AddSent(Payload payload, const TileSums* tiles, float* values,
                        int* bad) {
  const Parts parts = PartsOf(payload);
  if (!parts.good) return;
  TileSums own;
  SumOwnGaps(parts, payload.elements, own);
  const TileSums before = tiles[blockIdx.x];
  uint64_t index = before.first + ScanGroup(own.first).before;
  if (parts.marked) {
    AddMarked(payload, parts, index, values, bad);
    return;
  }
  uint64_t next = before.second + ScanGroup(own.second).before;
  EveryGap(parts, payload.elements, [&](uint64_t gap) {
    const uint64_t place = next + gap;
    // Only a payload that is refused has such values.
    if (index >= parts.sent || place >= payload.elements) return;
    const float scale = ScaleAt(parts, index / kBlock);
    values[place] =
        __fadd_rn(values[place], SentValue(parts, index, scale, bad));
    ++index;
    next = place + 1;
  });
}

// At least as many as the gaps of a payload take, and one.
size_t Tiles(size_t bytes) { return bytes / kTileBytes + 1; }

// Sent values of a group, and of each of its threads.
constexpr size_t kSentRun = 16;
constexpr size_t kSentTile = kSentRun * kScanThreads;
constexpr unsigned kCopyThreads = 256;
constexpr size_t kCopyGroupsMax = 1024;

// Calls use(gap) before each place of this thread.
template <typename Use>
__device__ void EveryOwnGap(const uint64_t* places, size_t sent,
                            const Use& use) {
  const size_t begin = blockIdx.x * kSentTile + threadIdx.x * kSentRun;
  const size_t end = min(begin + kSentRun, sent);
  for (size_t i = begin; i < end; ++i) {
    use(i == 0 ? places[0] : places[i] - places[i - 1] - 1);
  }
}

__device__ uint64_t OwnGapBytes(const uint64_t* places, size_t sent) {
  uint64_t bytes = 0;
  EveryOwnGap(places, sent, [&](uint64_t gap) {
    const int bits = 64 - __clzll(static_cast<long long>(gap | 1));
    bytes += static_cast<uint64_t>(bits + 6) / 7;
  });
  return bytes;
}

__global__ void SumGapBytes(const uint64_t* places, size_t sent,
                            TileSums* tiles) {
  const uint64_t bytes = ScanGroup(OwnGapBytes(places, sent)).total;
  if (threadIdx.x == 0) tiles[blockIdx.x] = {bytes, 0};
}

// One group. Leaves where the gaps of each tile are, and what the payload is
// beside its gaps and values.
__global__ void PlaceGaps(TileSums* tiles, size_t tile_count, size_t sent,
                          size_t value_bytes, uint8_t* payload,
                          uint64_t* bytes) {
  const TileSums all = ScanTiles(tiles, tile_count);
  if (threadIdx.x != 0) return;
  for (unsigned i = 0; i < kCountBytes; ++i) {
    payload[i] = static_cast<uint8_t>(sent >> (8 * i));
  }
  *bytes = kCountBytes + all.first + value_bytes;
}

__global__ void WriteGaps(const uint64_t* places, size_t sent,
                          const TileSums* tiles, uint8_t* payload) {
  uint8_t* to = payload + kCountBytes + tiles[blockIdx.x].first +
                ScanGroup(OwnGapBytes(places, sent)).before;
  EveryOwnGap(places, sent, [&](uint64_t gap) {
    for (; gap >= 0x80; gap >>= 7) *to++ = static_cast<uint8_t>(gap | 0x80u);
    *to++ = static_cast<uint8_t>(gap);
  });
}

// Sets bits in bytes that are 0. The last word may end behind the payload, so
// the thread with the last place sets the bits in it byte by byte.
__global__ void WriteMarks(const uint64_t* places, size_t sent, size_t elements,
                           uint8_t* marks) {
  constexpr unsigned kWord = 32;
  auto* const words = reinterpret_cast<uint32_t*>(marks);
  const size_t rest = elements / kWord * kWord;
  const size_t begin = blockIdx.x * kSentTile + threadIdx.x * kSentRun;
  const size_t end = min(begin + kSentRun, sent);
  for (size_t i = begin; i < end && places[i] < rest; ++i) {
    atomicOr(&words[places[i] / kWord], 1u << (places[i] % kWord));
  }
  if (begin >= end || end < sent) return;
  for (size_t i = sent; i > 0 && places[i - 1] >= rest; --i) {
    const uint64_t at = places[i - 1];
    marks[at / kByteMarks] |= static_cast<uint8_t>(1u << (at % kByteMarks));
  }
}

// A warp takes a stretch.
constexpr unsigned kWarp = 32;
constexpr unsigned kWarpsPerGroup = 8;

// The first of places from `begin` to before `end` that is not below `least`;
// `end` where none is.
__device__ size_t FirstFrom(const uint64_t* places, size_t begin, size_t end,
                            uint64_t least) {
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    if (places[middle] < least) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

// The scale and the codes of what each stretch sends.
__global__ void WriteStretches(const uint64_t* places, const float* values,
                               size_t sent, size_t elements, uint8_t* scales,
                               uint8_t* codes, int* bad) {
  const size_t stretch = StretchOf(elements, sent);
  const size_t count = Stretches(elements, stretch);
  const size_t own =
      static_cast<size_t>(blockIdx.x) * kWarpsPerGroup + threadIdx.y;
  if (own >= count) return;
  const size_t begin = FirstFrom(places, 0, sent, own * stretch);
  const size_t end =
      FirstFrom(places, begin, min(begin + stretch, sent), (own + 1) * stretch);
  unsigned absmax = 0;
  for (size_t i = begin + threadIdx.x; i < end; i += kWarp) {
    absmax = max(absmax, __float_as_uint(values[i]) & 0x7fffffffu);
  }
  absmax = __reduce_max_sync(0xffffffffu, absmax);
  if (absmax >= 0x7f800000u) {
    if (threadIdx.x == 0) *bad = 1;
    return;
  }
  const Int8Scale scale = Int8ScaleOf(__uint_as_float(absmax));
  if (threadIdx.x < sizeof(float)) {
    scales[own * sizeof(float) + threadIdx.x] =
        static_cast<uint8_t>(__float_as_uint(scale.scale) >> (8 * threadIdx.x));
  }
  for (size_t i = begin + threadIdx.x; i < end; i += kWarp) {
    codes[i] = static_cast<uint8_t>(Int8CodeOf(values[i], scale));
  }
}

// To the end of the payload.
__global__ void CopyValues(const uint8_t* values, size_t value_bytes,
                           uint8_t* payload, const uint64_t* bytes) {
  uint8_t* const to = payload + *bytes - value_bytes;
  const size_t step = static_cast<size_t>(gridDim.x) * kCopyThreads;
  for (size_t i = static_cast<size_t>(blockIdx.x) * kCopyThreads + threadIdx.x;
       i < value_bytes; i += step) {
    to[i] = values[i];
  }
}

size_t SentTiles(size_t sent) { return sent / kSentTile + 1; }

}  // namespace

size_t IndexedEncodeScratchBytes(size_t sent) {
  return SentTiles(sent) * sizeof(TileSums) + Inner::Bytes(sent);
}

namespace {

cudaError_t EncodeMarked(const uint64_t* places, const float* values,
                         size_t sent, size_t elements, TileSums* tiles,
                         uint8_t* payload, uint64_t* bytes, int* bad,
                         cudaStream_t stream) {
  const size_t mark_bytes = MarkBytes(elements);
  const size_t stretches = Stretches(elements, StretchOf(elements, sent));
  uint8_t* const scales = payload + kCountBytes;
  uint8_t* const marks = scales + stretches * sizeof(float);
  uint8_t* const codes = marks + mark_bytes;
  cudaError_t error = cudaMemsetAsync(marks, 0, mark_bytes, stream);
  if (error != cudaSuccess) return error;
  error = Launch(PlaceGaps, 1, kScanThreads, stream, tiles, size_t{0}, sent,
                 static_cast<size_t>(codes - scales) + sent, payload, bytes);
  if (error != cudaSuccess) return error;
  error = Launch(WriteMarks, static_cast<unsigned>(SentTiles(sent)),
                 kScanThreads, stream, places, sent, elements, marks);
  if (error != cudaSuccess) return error;
  const size_t groups = (stretches + kWarpsPerGroup - 1) / kWarpsPerGroup;
  return Launch(WriteStretches, static_cast<unsigned>(groups),
                dim3(kWarp, kWarpsPerGroup), stream, places, values, sent,
                elements, scales, codes, bad);
}

cudaError_t EncodeGaps(const uint64_t* places, const float* values, size_t sent,
                       TileSums* tiles, std::byte* encoded, uint8_t* payload,
                       uint64_t* bytes, int* bad, cudaStream_t stream) {
  const size_t tile_count = SentTiles(sent);
  const auto groups = static_cast<unsigned>(tile_count);
  const size_t value_bytes = Inner::Bytes(sent);
  const size_t wanted = value_bytes / kCopyThreads + 1;
  const auto copiers =
      static_cast<unsigned>(wanted < kCopyGroupsMax ? wanted : kCopyGroupsMax);
  cudaError_t error = EncodeInt8Block(values, sent, encoded, bad, stream);
  if (error != cudaSuccess) return error;
  error =
      Launch(SumGapBytes, groups, kScanThreads, stream, places, sent, tiles);
  if (error != cudaSuccess) return error;
  error = Launch(PlaceGaps, 1, kScanThreads, stream, tiles, tile_count, sent,
                 value_bytes, payload, bytes);
  if (error != cudaSuccess) return error;
  error = Launch(WriteGaps, groups, kScanThreads, stream, places, sent, tiles,
                 payload);
  if (error != cudaSuccess) return error;
  return Launch(CopyValues, copiers, kCopyThreads, stream,
                reinterpret_cast<const uint8_t*>(encoded), value_bytes, payload,
                bytes);
}

}  // namespace

cudaError_t EncodeIndexed(const uint64_t* places, const float* values,
                          size_t sent, size_t elements, std::byte* payload,
                          uint64_t* bytes, std::byte* scratch, int* bad,
                          cudaStream_t stream) {
  auto* const tiles = reinterpret_cast<TileSums*>(scratch);
  auto* const to = reinterpret_cast<uint8_t*>(payload);
  if (IsMarked(elements, sent)) {
    return EncodeMarked(places, values, sent, elements, tiles, to, bytes, bad,
                        stream);
  }
  return EncodeGaps(places, values, sent, tiles,
                    scratch + SentTiles(sent) * sizeof(TileSums), to, bytes,
                    bad, stream);
}

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
