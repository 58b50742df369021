#include <cstdint>

#include "compression/cuda/bins4.h"
#include "compression/cuda/launch.h"
#include "compression/cuda/select.h"
#include "compression/sparse/cuda/chunk_top_k.h"

namespace skerry::compression::cuda {
namespace {

// A group takes a chunk.
constexpr size_t kChunk = 4096;
constexpr unsigned kThreads = kScanThreads;
static_assert(kChunk == kOrdered);
constexpr unsigned kWarp = 32;
constexpr unsigned kInfinityBits = 0x7f800000u;
constexpr unsigned kIndexBits = 12;
constexpr unsigned kCodeBits = 2;
constexpr unsigned kLevels = 1u << kCodeBits;
constexpr size_t kBookBytes = kLevels * sizeof(float);

__host__ __device__ size_t BytesOf(size_t count, unsigned bits) {
  return (count * bits + 7) / 8;
}

__host__ __device__ size_t ChunkBytes(size_t count) {
  return BytesOf(count, kIndexBits) + BytesOf(count, kCodeBits);
}

// The chunk of a group.
struct Chunk {
  size_t begin;
  unsigned size;
  unsigned count;  // of what is sent of it
  size_t places;   // where they are in the payload
  size_t codes;
};

__device__ Chunk OwnChunk(size_t kept, size_t elements) {
  Chunk chunk;
  chunk.begin = blockIdx.x * kChunk;
  chunk.size = static_cast<unsigned>(min(elements - chunk.begin, kChunk));
  chunk.count = min(static_cast<unsigned>(kept), chunk.size);
  chunk.places = kBookBytes + blockIdx.x * ChunkBytes(kept);
  chunk.codes = chunk.places + BytesOf(chunk.count, kIndexBits);
  return chunk;
}

__device__ unsigned PlaceAt(const uint8_t* places, unsigned i) {
  const uint8_t* const at = places + i / 2 * 3 + i % 2;
  const unsigned two = at[0] | static_cast<unsigned>(at[1]) << 8;
  return i % 2 == 0 ? two & 0xfffu : two >> 4;
}

__device__ unsigned CodeAt(const uint8_t* codes, unsigned i) {
  return codes[i / 4] >> (kCodeBits * (i % 4)) & (kLevels - 1);
}

// Whether no bit is set behind the last field.
__device__ bool RestIsZero(const uint8_t* at, unsigned count, unsigned bits) {
  const unsigned used = count * bits % 8;
  return used == 0 || at[count * bits / 8] >> used == 0;
}

// What one chunk sends, or all.
struct Moments {
  double sum;
  double squares;
};
struct BinSums {
  double sums[kLevels];
  uint64_t counts[kLevels];
};
// The least values of codes 1, 2 and 3.
struct Edges {
  float from[kLevels - 1];
};

// What encoding leaves from kernel to kernel.
struct Scratch {
  Moments* moments;  // of each chunk
  BinSums* bins;
  Edges* edges;
  float* sent;  // `kept` of each chunk
};

// The place and the value of each that the chunk sends, in order.
__device__ void Compact(const unsigned* slots, const Chunk& chunk,
                        const Kth& kth, uint16_t* places, float* sent) {
  Reached all;
  const Reached before =
      ReachedBefore(OwnReached(slots, chunk.size, kth.magnitude), all);
  EmitOwn(slots, chunk.size, kth.magnitude, kth.ties, before,
          [&](unsigned i, Reached sooner) {
            const unsigned at = sooner.greater + min(sooner.ties, kth.ties);
            places[at] = static_cast<uint16_t>(i);
            sent[at] = __uint_as_float(slots[OrderedSlot(i)]);
          });
}

__device__ void PackPlaces(const uint16_t* places, unsigned count,
                           uint8_t* out) {
  for (unsigned i = 2 * threadIdx.x; i < count; i += 2 * kThreads) {
    const unsigned second = i + 1 < count ? places[i + 1] : 0u;
    const unsigned two = places[i] | second << kIndexBits;
    uint8_t* const to = out + i / 2 * 3;
    to[0] = static_cast<uint8_t>(two);
    to[1] = static_cast<uint8_t>(two >> 8);
    if (i + 1 < count) to[2] = static_cast<uint8_t>(two >> 16);
  }
}

// The sum in the first lanes of a warp, that of squares in the others.
__device__ void SumMoments(const float* sent, unsigned count,
                           Moments* moments) {
  if (threadIdx.x >= kWarp) return;
  const bool squares = threadIdx.x >= kSums;
  double sum = 0.0;
  for (unsigned i = threadIdx.x % kSums; i < count; i += kSums) {
    const double x = sent[i];
    sum = __dadd_rn(sum, squares ? __dmul_rn(x, x) : x);
  }
  sum = Folded(sum);
  if (threadIdx.x == 0) moments->sum = sum;
  if (threadIdx.x == kSums) moments->squares = sum;
}

__global__ void SelectChunks(const float* values, size_t kept, size_t elements,
                             uint8_t* payload, Scratch scratch, int* bad) {
  __shared__ unsigned slots[kOrderedSlots];
  __shared__ uint16_t places[kChunk];
  __shared__ float sent[kChunk];
  const Chunk chunk = OwnChunk(kept, elements);
  for (unsigned i = threadIdx.x; i < chunk.size; i += kThreads) {
    const unsigned pattern = __float_as_uint(values[chunk.begin + i]);
    if (Magnitude(pattern) >= kInfinityBits) *bad = 1;
    slots[OrderedSlot(i)] = pattern;
  }
  __syncthreads();
  const Kth kth = KthLargest([&](unsigned i) { return slots[OrderedSlot(i)]; },
                             chunk.size, chunk.count);
  Compact(slots, chunk, kth, places, sent);
  __syncthreads();
  PackPlaces(places, chunk.count, payload + chunk.places);
  float* const out = scratch.sent + blockIdx.x * kept;
  for (unsigned i = threadIdx.x; i < chunk.count; i += kThreads) {
    out[i] = sent[i];
  }
  SumMoments(sent, chunk.count, scratch.moments + blockIdx.x);
}

// The least fp32 that lies at least `edge` above the mean; infinite where there
// is none.
__device__ float LeastFrom(double mean, double edge) {
  // The order of patterns is that of magnitudes.
  const auto at = [](int64_t rank) {
    const auto size = static_cast<unsigned>(rank < 0 ? -rank - 1 : rank);
    return __uint_as_float(rank < 0 ? size | 0x80000000u : size);
  };
  int64_t high = kInfinityBits;
  int64_t low = -high - 2;  // below all
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    const bool holds = __dsub_rn(at(middle), mean) >= edge;
    (holds ? high : low) = middle;
  }
  return at(high);
}

// One thread: the processor adds chunks in order.
__global__ void FindEdges(const Moments* chunks, unsigned chunk_count,
                          size_t sent, Edges* edges) {
  Moments all = {0.0, 0.0};
  for (unsigned i = 0; i < chunk_count; ++i) {
    all.sum = __dadd_rn(all.sum, chunks[i].sum);
    all.squares = __dadd_rn(all.squares, chunks[i].squares);
  }
  const auto count = static_cast<double>(sent);
  const double mean = __ddiv_rn(all.sum, count);
  const double variance =
      __dsub_rn(__ddiv_rn(all.squares, count), __dmul_rn(mean, mean));
  const double width =
      variance > 0.0 ? __dmul_rn(1.5, __dsqrt_rn(variance)) : 0.0;
  if (width > 0.0) {
    *edges = {{LeastFrom(mean, -width), LeastFrom(mean, 0.0),
               LeastFrom(mean, width)}};
  } else {
    const float infinity = __uint_as_float(kInfinityBits);
    *edges = {{-infinity, -infinity, infinity}};
  }
}

__device__ unsigned CodeOf(const Edges& edges, float value) {
  unsigned code = 0;
  for (const float from : edges.from) code += value >= from ? 1 : 0;
  return code;
}

// Threads of a code are kSums.
__device__ void SumBins(const float* sent, unsigned count, const Edges& edges,
                        BinSums* bins) {
  if (threadIdx.x >= kLevels * kSums) return;
  const unsigned code = threadIdx.x / kSums;
  double sum = 0.0;
  unsigned found = 0;
  for (unsigned i = threadIdx.x % kSums; i < count; i += kSums) {
    if (CodeOf(edges, sent[i]) != code) continue;
    sum = __dadd_rn(sum, sent[i]);
    ++found;
  }
  sum = Folded(sum);
  found = Folded(found);
  if (threadIdx.x % kSums != 0) return;
  bins->sums[code] = sum;
  bins->counts[code] = found;
}

__global__ void BinChunks(size_t kept, size_t elements, uint8_t* payload,
                          Scratch scratch) {
  const Chunk chunk = OwnChunk(kept, elements);
  const float* const sent = scratch.sent + blockIdx.x * kept;
  const Edges edges = *scratch.edges;
  uint8_t* const codes = payload + chunk.codes;
  for (unsigned byte = threadIdx.x; 4 * byte < chunk.count; byte += kThreads) {
    unsigned four = 0;
    for (unsigned i = 0; i < 4 && 4 * byte + i < chunk.count; ++i) {
      four |= CodeOf(edges, sent[4 * byte + i]) << (kCodeBits * i);
    }
    codes[byte] = static_cast<uint8_t>(four);
  }
  SumBins(sent, chunk.count, edges, scratch.bins + blockIdx.x);
}

// A thread for each level, as in FindEdges.
__global__ void WriteBook(const BinSums* chunks, unsigned chunk_count,
                          float* book) {
  const unsigned code = threadIdx.x;
  double sum = 0.0;
  uint64_t count = 0;
  for (unsigned i = 0; i < chunk_count; ++i) {
    sum = __dadd_rn(sum, chunks[i].sums[code]);
    count += chunks[i].counts[code];
  }
  book[code] =
      count == 0
          ? 0.0f
          : __double2float_rn(__ddiv_rn(sum, static_cast<double>(count)));
}

template <bool kAdd>
__global__ void DecodeChunks(const uint8_t* payload, size_t kept,
                             size_t elements, float* values, int* bad) {
  const Chunk chunk = OwnChunk(kept, elements);
  const auto* const book = reinterpret_cast<const float*>(payload);
  const uint8_t* const places = payload + chunk.places;
  const uint8_t* const codes = payload + chunk.codes;
  float* const own = values + chunk.begin;
  if (!kAdd) {
    for (unsigned i = threadIdx.x; i < chunk.size; i += kThreads) own[i] = 0;
    __syncthreads();
  }
  if (threadIdx.x < kLevels && !isfinite(book[threadIdx.x])) *bad = 1;
  if (threadIdx.x == 0 && (!RestIsZero(places, chunk.count, kIndexBits) ||
                           !RestIsZero(codes, chunk.count, kCodeBits))) {
    *bad = 1;
  }
  for (unsigned i = threadIdx.x; i < chunk.count; i += kThreads) {
    const unsigned place = PlaceAt(places, i);
    const bool ascends = i == 0 || place > PlaceAt(places, i - 1);
    if (!ascends || place >= chunk.size) {
      *bad = 1;
      continue;
    }
    own[place] = __fadd_rn(own[place], book[CodeAt(codes, i)]);
  }
}

unsigned Chunks(size_t count) {
  return static_cast<unsigned>((count + kChunk - 1) / kChunk);
}

Scratch ScratchAt(std::byte* at, unsigned chunks) {
  Scratch scratch;
  scratch.moments = reinterpret_cast<Moments*>(at);
  scratch.bins = reinterpret_cast<BinSums*>(scratch.moments + chunks);
  scratch.edges = reinterpret_cast<Edges*>(scratch.bins + chunks);
  scratch.sent = reinterpret_cast<float*>(scratch.edges + 1);
  return scratch;
}

template <bool kAdd>
cudaError_t LaunchDecode(size_t kept, const std::byte* payload, size_t count,
                         float* values, int* bad, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return Launch(DecodeChunks<kAdd>, Chunks(count), kThreads, stream,
                reinterpret_cast<const uint8_t*>(payload), kept, count, values,
                bad);
}

}  // namespace

size_t ChunkTopKBytes(size_t kept, size_t count) {
  if (count == 0) return 0;
  const size_t last = count % kChunk;
  return kBookBytes + count / kChunk * ChunkBytes(kept) +
         ChunkBytes(kept < last ? kept : last);
}

size_t ChunkTopKScratchBytes(size_t kept, size_t count) {
  return Chunks(count) *
             (sizeof(Moments) + sizeof(BinSums) + kept * sizeof(float)) +
         sizeof(Edges);
}

cudaError_t EncodeChunkTopK(size_t kept, const float* values, size_t count,
                            std::byte* payload, std::byte* scratch, int* bad,
                            cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const unsigned chunks = Chunks(count);
  const size_t last = count % kChunk;
  const size_t sent = count / kChunk * kept + (kept < last ? kept : last);
  const Scratch parts = ScratchAt(scratch, chunks);
  auto* const bytes = reinterpret_cast<uint8_t*>(payload);
  cudaError_t error = Launch(SelectChunks, chunks, kThreads, stream, values,
                             kept, count, bytes, parts, bad);
  if (error != cudaSuccess) return error;
  error =
      Launch(FindEdges, 1, 1, stream, parts.moments, chunks, sent, parts.edges);
  if (error != cudaSuccess) return error;
  error =
      Launch(BinChunks, chunks, kThreads, stream, kept, count, bytes, parts);
  if (error != cudaSuccess) return error;
  return Launch(WriteBook, 1, kLevels, stream, parts.bins, chunks,
                reinterpret_cast<float*>(payload));
}

cudaError_t DecodeChunkTopK(size_t kept, const std::byte* payload, size_t count,
                            float* values, int* bad, cudaStream_t stream) {
  return LaunchDecode<false>(kept, payload, count, values, bad, stream);
}

cudaError_t DecodeAddChunkTopK(size_t kept, const std::byte* payload,
                               size_t count, float* accumulators, int* bad,
                               cudaStream_t stream) {
  return LaunchDecode<true>(kept, payload, count, accumulators, bad, stream);
}

}  // namespace skerry::compression::cuda
