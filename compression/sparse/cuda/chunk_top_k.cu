#include <cstdint>

#include "compression/cuda/launch.h"
#include "compression/sparse/cuda/chunk_top_k.h"

namespace skerry::compression::cuda {
namespace {

// A group takes a chunk.
constexpr size_t kChunk = 4096;
constexpr unsigned kThreads = 256;
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
