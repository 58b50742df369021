#include "compression/chunk_top_k/chunk_reader.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "compression/chunk_top_k/cpu/bins4.h"
#include "compression/chunk_top_k/cpu/mark_chunk.h"
#include "compression/chunk_top_k/cpu/places12.h"
#include "compression/top_k/cpu/marks.h"

namespace skerry::compression {
namespace {

constexpr size_t kSlack = std::max(cpu::kBinnedSlack, cpu::kMarkedSlack);
// Accumulators whose memory is asked for at once.
constexpr size_t kPlacesAhead = 128;
constexpr size_t kRangesPerThread = 8;

// What one chunk sends, as it is read.
struct ChunkSent {
  size_t count = 0;
  uint16_t places[kChunk];
  uint64_t words[cpu::kChunkWords];  // instead of places where it is dense
  float values[kChunk + kSlack];
};

// Whether body(begin, end) holds for ranges of whole groups, which together are
// `size` values. Longer ones than parts are, as each begins by waiting.
template <typename Body>
bool EveryRange(size_t size, ParallelExecutor& executor, const Body& body) {
  const size_t groups = (size + kGroup - 1) / kGroup;
  const size_t ranges = std::min(
      groups, kRangesPerThread * static_cast<size_t>(executor.thread_count()));
  std::atomic<bool> good{true};
  executor.ForEach(ranges, [&](size_t range) {
    const size_t begin = range * groups / ranges * kGroup;
    const size_t end = std::min((range + 1) * groups / ranges * kGroup, size);
    if (!body(begin, end)) good.store(false, std::memory_order_relaxed);
  });
  return good.load(std::memory_order_relaxed);
}

// One range of whole groups.
class RangeReader {
 public:
  RangeReader(const ChunkLayout& layout, cpu::Stores stores)
      : layout_(layout), stores_(stores) {}

  // Reads what a chunk sends while the memory that the one before goes to is on
  // its way.
  template <bool kAdd>
  bool Read(const std::byte* in, std::span<float> values) const {
    ChunkSent two[2];
    std::span<float> before;
    Book book;
    const size_t ahead = kAdd ? ChunksAhead() : 0;
    for (size_t i = 1; i < ahead; ++i) PrefetchFew(in, values, i);
    for (size_t chunk = 0; chunk * kChunk < values.size(); ++chunk) {
      const std::byte* const from = in + layout_.OffsetOf(chunk);
      if (chunk % kGroupChunks == 0 &&
          !ReadBook<kAdd>(from - kBookBytes, book)) {
        return false;
      }
      const auto mine = ChunkOf(values, chunk);
      ChunkSent& sent = two[chunk % 2];
      if (!ReadChunk(from, book, mine.size(), sent)) return false;
      ahead > 0 ? PrefetchFew(in, values, chunk + ahead)
                : Prefetch<kAdd>(mine, sent);
      if (chunk > 0) Put<kAdd>(two[1 - chunk % 2], before);
      before = mine;
      if (mine.data() + mine.size() == values.data() + values.size()) {
        Put<kAdd>(sent, mine);
      }
    }
    return true;
  }

 private:
  static std::span<float> ChunkOf(std::span<float> values, size_t chunk) {
    const size_t begin = chunk * kChunk;
    return values.subspan(begin, std::min(kChunk, values.size() - begin));
  }

  // How many chunks ahead memory is asked for; 0 where one sends enough to wait
  // for.
  size_t ChunksAhead() const {
    const size_t few = kPlacesAhead / layout_.kept();
    return few > 1 && !layout_.IsMarked(kChunk) ? few : 0;
  }

  // Asks for the accumulators of a whole chunk's places, whatever they are.
  void PrefetchFew(const std::byte* in, std::span<float> values,
                   size_t chunk) const {
    if ((chunk + 1) * kChunk > values.size()) return;
    uint16_t places[kPlacesAhead];
    cpu::UnpackPlaces(in + layout_.OffsetOf(chunk), {places, layout_.kept()});
    for (size_t i = 0; i < layout_.kept(); ++i) {
      __builtin_prefetch(&values[chunk * kChunk + places[i]], /*rw=*/1);
    }
  }

  template <bool kAdd>
  static bool ReadBook(const std::byte* in, Book& book) {
    std::memcpy(book.data(), in, kBookBytes);
    for (float& level : book) {
      if (!std::isfinite(level)) return false;
      // Zero is what was there before, and of zeros, +0.
      if (!kAdd) level += 0.0f;
    }
    return true;
  }

  bool ReadChunk(const std::byte* in, const Book& book, size_t size,
                 ChunkSent& sent) const {
    sent.count = layout_.SentOf(size);
    const bool good = layout_.IsMarked(size)
                          ? ReadWords(in, size, sent)
                          : cpu::UnpackPlaces(in, {sent.places, sent.count}) &&
                                sent.places[sent.count - 1] < size;
    return good && cpu::LevelsOf(in + layout_.PlacesBytes(size), sent.count,
                                 book, sent.values);
  }

  // Whether as many bits are set as values are sent, and none behind the chunk.
  bool ReadWords(const std::byte* in, size_t size, ChunkSent& sent) const {
    const size_t words = (size + cpu::kMarkedValues - 1) / cpu::kMarkedValues;
    sent.words[words - 1] = 0;
    std::memcpy(sent.words, in, layout_.PlacesBytes(size));
    const size_t last = size % cpu::kMarkedValues;
    return cpu::CountMarks({sent.words, words}) == sent.count &&
           (last == 0 || sent.words[words - 1] >> last == 0);
  }

  // Whether chunks are written past the caches.
  template <bool kAdd>
  bool IsPastCaches(size_t chunk_size) const {
    return !kAdd && stores_ == cpu::Stores::kPastCaches &&
           layout_.IsMarked(chunk_size);
  }

  template <bool kAdd>
  void Prefetch(std::span<const float> chunk, const ChunkSent& sent) const {
    constexpr size_t kLine = 64 / sizeof(float);
    if (IsPastCaches<kAdd>(chunk.size())) return;
    if (!kAdd || sent.count >= chunk.size() / kLine) {
      for (size_t i = 0; i < chunk.size(); i += kLine) {
        __builtin_prefetch(&chunk[i], /*rw=*/1);
      }
      return;
    }
    for (size_t i = 0; i < sent.count; ++i) {
      __builtin_prefetch(&chunk[sent.places[i]], /*rw=*/1);
    }
  }

  template <bool kAdd>
  void Put(const ChunkSent& sent, std::span<float> chunk) const {
    if (layout_.IsMarked(chunk.size())) {
      kAdd ? cpu::AddMarked(sent.words, sent.values, chunk)
           : cpu::PutMarked(sent.words, sent.values, chunk, stores_);
      return;
    }
    if (!kAdd) std::fill(chunk.begin(), chunk.end(), 0.0f);
    for (size_t i = 0; i < sent.count; ++i) {
      float& value = chunk[sent.places[i]];
      value = kAdd ? value + sent.values[i] : sent.values[i];
    }
  }

  const ChunkLayout& layout_;
  const cpu::Stores stores_;
};

template <bool kAdd>
bool ReadAll(const ChunkLayout& layout, std::span<const std::byte> payload,
             std::span<float> values, ParallelExecutor& executor) {
  const RangeReader reader(layout, cpu::StoresForValues(values.size_bytes()));
  return EveryRange(values.size(), executor, [&](size_t begin, size_t end) {
    return reader.Read<kAdd>(
        payload.data() + begin / kGroup * layout.GroupBytes(),
        values.subspan(begin, end - begin));
  });
}

}  // namespace

bool PutChunks(const ChunkLayout& layout, std::span<const std::byte> payload,
               std::span<float> values, ParallelExecutor& executor) {
  return ReadAll</*kAdd=*/false>(layout, payload, values, executor);
}

bool AddChunks(const ChunkLayout& layout, std::span<const std::byte> payload,
               std::span<float> values, ParallelExecutor& executor) {
  return ReadAll</*kAdd=*/true>(layout, payload, values, executor);
}

}  // namespace skerry::compression
