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
// Chunks that share their levels.
constexpr unsigned kSharing = 16;

__host__ __device__ size_t BytesOf(size_t count, unsigned bits) {
  return (count * bits + 7) / 8;
}

// These describe a chunk of `size` values, as those of ChunkLayout do.
__host__ __device__ size_t SentOf(size_t kept, size_t size) {
  return kept < size ? kept : size;
}
__host__ __device__ bool IsMarked(size_t kept, size_t size) {
  return SentOf(kept, size) * kIndexBits > size;
}
__host__ __device__ size_t PlacesBytes(size_t kept, size_t size) {
  return IsMarked(kept, size) ? BytesOf(size, 1)
                              : BytesOf(SentOf(kept, size), kIndexBits);
}
__host__ __device__ size_t ChunkBytes(size_t kept, size_t size) {
  return PlacesBytes(kept, size) + BytesOf(SentOf(kept, size), kCodeBits);
}
// Where in the payload the levels of a run of kSharing chunks are. `sharing` is
// the number of the run.
__host__ __device__ size_t BookAt(size_t kept, size_t sharing) {
  return sharing * (kBookBytes + kSharing * ChunkBytes(kept, kChunk));
}

// The chunk that a group works on.
struct Chunk {
  size_t begin;
  unsigned size;
  unsigned count;  // how many of its values are sent
  bool marked;     // a bit for each value instead of places
  size_t book;     // where its levels are in the payload
  size_t places;
  size_t codes;
};

__device__ Chunk OwnChunk(size_t kept, size_t elements) {
  Chunk chunk;
  chunk.begin = blockIdx.x * kChunk;
  chunk.size = static_cast<unsigned>(min(elements - chunk.begin, kChunk));
  chunk.count = static_cast<unsigned>(SentOf(kept, chunk.size));
  chunk.marked = IsMarked(kept, chunk.size);
  chunk.book = BookAt(kept, blockIdx.x / kSharing);
  chunk.places = chunk.book + kBookBytes +
                 blockIdx.x % kSharing * ChunkBytes(kept, kChunk);
  chunk.codes = chunk.places + PlacesBytes(kept, chunk.size);
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

__device__ bool IsMarkedAt(const uint8_t* marks, unsigned i) {
  return (marks[i / 8] >> (i % 8) & 1) != 0;
}

// Whether no bit is set behind the last field.
__device__ bool RestIsZero(const uint8_t* at, unsigned count, unsigned bits) {
  const unsigned used = count * bits % 8;
  return used == 0 || at[count * bits / 8] >> used == 0;
}

// Sums over the values that one chunk sends.
struct Moments {
  double sum;
  double squares;
};
// Sums and counts of the values with code 1 or more, 2 or more, and 3.
struct EdgeSums {
  double sums[kLevels - 1];
  unsigned counts[kLevels - 1];
};
// The least values of codes 1, 2 and 3.
struct Edges {
  float from[kLevels - 1];
};

// What one kernel of encoding leaves for the next.
struct Scratch {
  Moments* moments;  // for each chunk
  EdgeSums* from;    // for each chunk
  Edges* edges;      // for each run of kSharing chunks
  float* sent;       // `kept` for each chunk
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

// A bit for each value of the chunk.
__device__ void PackMarks(const uint16_t* places, const Chunk& chunk,
                          unsigned* marks, uint8_t* out) {
  for (unsigned i = threadIdx.x; i < kChunk / kWarp; i += kThreads) {
    marks[i] = 0;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < chunk.count; i += kThreads) {
    atomicOr(&marks[places[i] / kWarp], 1u << (places[i] % kWarp));
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; 8 * i < chunk.size; i += kThreads) {
    out[i] = static_cast<uint8_t>(marks[i / 4] >> (8 * (i % 4)));
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
  __shared__ unsigned marks[kChunk / kWarp];
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
  if (chunk.marked) {
    PackMarks(places, chunk, marks, payload + chunk.places);
  } else {
    PackPlaces(places, chunk.count, payload + chunk.places);
  }
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

// The chunks whose levels a group makes.
struct Shared {
  unsigned first;
  unsigned last;
  double count;  // of what they send
};

__device__ Shared OwnShared(size_t kept, size_t elements) {
  Shared own;
  own.first = blockIdx.x * kSharing;
  own.last = own.first;
  size_t sent = 0;
  for (unsigned i = 0; i < kSharing; ++i) {
    const size_t begin = (own.first + i) * kChunk;
    if (begin >= elements) break;
    sent += SentOf(kept, min(elements - begin, kChunk));
    ++own.last;
  }
  own.count = static_cast<double>(sent);
  return own;
}

// One thread: the processor adds chunks in order.
__global__ void FindEdges(size_t kept, size_t elements, Scratch scratch) {
  const Shared own = OwnShared(kept, elements);
  Moments all = {0.0, 0.0};
  for (unsigned i = own.first; i < own.last; ++i) {
    all.sum = __dadd_rn(all.sum, scratch.moments[i].sum);
    all.squares = __dadd_rn(all.squares, scratch.moments[i].squares);
  }
  const double mean = __ddiv_rn(all.sum, own.count);
  const double variance =
      __dsub_rn(__ddiv_rn(all.squares, own.count), __dmul_rn(mean, mean));
  const double width =
      variance > 0.0 ? __dmul_rn(1.5, __dsqrt_rn(variance)) : 0.0;
  Edges* const edges = scratch.edges + blockIdx.x;
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

// Threads of an edge are kSums.
__device__ void SumFrom(const float* sent, unsigned count, const Edges& edges,
                        EdgeSums* from) {
  // Whole warps, of which the last kSums threads add what nobody reads.
  if (threadIdx.x >= kLevels * kSums) return;
  const unsigned edge = threadIdx.x / kSums;
  const float least = edges.from[min(edge, kLevels - 2)];
  double sum = 0.0;
  unsigned found = 0;
  for (unsigned i = threadIdx.x % kSums; i < count; i += kSums) {
    if (!(sent[i] >= least)) continue;
    sum = __dadd_rn(sum, sent[i]);
    ++found;
  }
  sum = Folded(sum);
  found = Folded(found);
  if (threadIdx.x % kSums != 0 || edge == kLevels - 1) return;
  from->sums[edge] = sum;
  from->counts[edge] = found;
}

__global__ void BinChunks(size_t kept, size_t elements, uint8_t* payload,
                          Scratch scratch) {
  const Chunk chunk = OwnChunk(kept, elements);
  const float* const sent = scratch.sent + blockIdx.x * kept;
  const Edges edges = scratch.edges[blockIdx.x / kSharing];
  uint8_t* const codes = payload + chunk.codes;
  for (unsigned byte = threadIdx.x; 4 * byte < chunk.count; byte += kThreads) {
    unsigned four = 0;
    for (unsigned i = 0; i < 4 && 4 * byte + i < chunk.count; ++i) {
      four |= CodeOf(edges, sent[4 * byte + i]) << (kCodeBits * i);
    }
    codes[byte] = static_cast<uint8_t>(four);
  }
  SumFrom(sent, chunk.count, edges, scratch.from + blockIdx.x);
}

// What has `code` or more, of chunks in order.
struct Reaching {
  double sum;
  uint64_t count;
};

__device__ Reaching ReachingOf(const Shared& own, const Scratch& scratch,
                               unsigned code) {
  Reaching all = {0.0, 0};
  if (code == kLevels) return all;
  for (unsigned i = own.first; i < own.last; ++i) {
    const double sum =
        code == 0 ? scratch.moments[i].sum : scratch.from[i].sums[code - 1];
    all.sum = __dadd_rn(all.sum, sum);
    if (code > 0) all.count += scratch.from[i].counts[code - 1];
  }
  if (code == 0) all.count = static_cast<uint64_t>(own.count);
  return all;
}

// A thread for each level.
__global__ void WriteBooks(size_t kept, size_t elements, uint8_t* payload,
                           Scratch scratch) {
  const Shared own = OwnShared(kept, elements);
  const Reaching from = ReachingOf(own, scratch, threadIdx.x);
  const Reaching above = ReachingOf(own, scratch, threadIdx.x + 1);
  const uint64_t count = from.count - above.count;
  const double sum = __dsub_rn(from.sum, above.sum);
  const float level =
      count == 0
          ? 0.0f
          : __double2float_rn(__ddiv_rn(sum, static_cast<double>(count)));
  uint8_t* const book = payload + BookAt(kept, blockIdx.x);
  memcpy(book + threadIdx.x * sizeof(level), &level, sizeof(level));
}

__device__ float LevelAt(const uint8_t* book, unsigned code) {
  float level;
  memcpy(&level, book + code * sizeof(level), sizeof(level));
  return level;
}

// Each thread decodes a run of kOrderedRun values of a marked chunk.
__device__ void PutMarked(const uint8_t* marks, const uint8_t* codes,
                          const uint8_t* book, const Chunk& chunk, float* own,
                          int* bad) {
  const unsigned first = threadIdx.x * kOrderedRun;
  const unsigned last = min(first + kOrderedRun, chunk.size);
  unsigned mine = 0;
  for (unsigned i = first; i < last; ++i) mine += IsMarkedAt(marks, i) ? 1 : 0;
  const Scan<unsigned> marked = ScanGroup(mine);
  // If more bits were set, codes would be read that are not there.
  if (marked.total != chunk.count) {
    *bad = 1;
    return;
  }
  unsigned at = marked.before;
  for (unsigned i = first; i < last; ++i) {
    if (!IsMarkedAt(marks, i)) continue;
    own[i] = __fadd_rn(own[i], LevelAt(book, CodeAt(codes, at)));
    ++at;
  }
}

__device__ void PutPlaces(const uint8_t* places, const uint8_t* codes,
                          const uint8_t* book, const Chunk& chunk, float* own,
                          int* bad) {
  for (unsigned i = threadIdx.x; i < chunk.count; i += kThreads) {
    const unsigned place = PlaceAt(places, i);
    const bool ascends = i == 0 || place > PlaceAt(places, i - 1);
    if (!ascends || place >= chunk.size) {
      *bad = 1;
      continue;
    }
    own[place] = __fadd_rn(own[place], LevelAt(book, CodeAt(codes, i)));
  }
}

template <bool kAdd>
__global__ void DecodeChunks(const uint8_t* payload, size_t kept,
                             size_t elements, float* values, int* bad) {
  const Chunk chunk = OwnChunk(kept, elements);
  const uint8_t* const book = payload + chunk.book;
  const uint8_t* const places = payload + chunk.places;
  const uint8_t* const codes = payload + chunk.codes;
  float* const own = values + chunk.begin;
  if (!kAdd) {
    for (unsigned i = threadIdx.x; i < chunk.size; i += kThreads) own[i] = 0;
    __syncthreads();
  }
  if (threadIdx.x < kLevels && !isfinite(LevelAt(book, threadIdx.x))) *bad = 1;
  const bool rest_is_zero = chunk.marked
                                ? RestIsZero(places, chunk.size, 1)
                                : RestIsZero(places, chunk.count, kIndexBits);
  if (threadIdx.x == 0 &&
      (!rest_is_zero || !RestIsZero(codes, chunk.count, kCodeBits))) {
    *bad = 1;
  }
  if (chunk.marked) {
    PutMarked(places, codes, book, chunk, own, bad);
  } else {
    PutPlaces(places, codes, book, chunk, own, bad);
  }
}

unsigned Chunks(size_t count) {
  return static_cast<unsigned>((count + kChunk - 1) / kChunk);
}

unsigned Books(size_t count) {
  return (Chunks(count) + kSharing - 1) / kSharing;
}

Scratch ScratchAt(std::byte* at, size_t count) {
  Scratch scratch;
  scratch.moments = reinterpret_cast<Moments*>(at);
  scratch.from = reinterpret_cast<EdgeSums*>(scratch.moments + Chunks(count));
  scratch.edges = reinterpret_cast<Edges*>(scratch.from + Chunks(count));
  scratch.sent = reinterpret_cast<float*>(scratch.edges + Books(count));
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
  const size_t last = count % kChunk;
  return Books(count) * kBookBytes + count / kChunk * ChunkBytes(kept, kChunk) +
         (last == 0 ? 0 : ChunkBytes(kept, last));
}

size_t ChunkTopKScratchBytes(size_t kept, size_t count) {
  return Chunks(count) *
             (sizeof(Moments) + sizeof(EdgeSums) + kept * sizeof(float)) +
         Books(count) * sizeof(Edges);
}

cudaError_t EncodeChunkTopK(size_t kept, const float* values, size_t count,
                            std::byte* payload, std::byte* scratch, int* bad,
                            cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const Scratch parts = ScratchAt(scratch, count);
  auto* const bytes = reinterpret_cast<uint8_t*>(payload);
  cudaError_t error = Launch(SelectChunks, Chunks(count), kThreads, stream,
                             values, kept, count, bytes, parts, bad);
  if (error != cudaSuccess) return error;
  error = Launch(FindEdges, Books(count), 1, stream, kept, count, parts);
  if (error != cudaSuccess) return error;
  error = Launch(BinChunks, Chunks(count), kThreads, stream, kept, count, bytes,
                 parts);
  if (error != cudaSuccess) return error;
  return Launch(WriteBooks, Books(count), kLevels, stream, kept, count, bytes,
                parts);
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
