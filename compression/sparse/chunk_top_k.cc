// The layout of SparseLoCo, 12-bit places and 2-bit values of each 4096, with a
// bit for each value instead of places where that is less.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/executor.h"
#include "compression/codec_errors.h"
#include "compression/cpu/bins4.h"
#include "compression/cpu/mark_chunk.h"
#include "compression/cpu/marks.h"
#include "compression/cpu/places12.h"
#include "compression/cpu/select.h"
#include "compression/cpu/select_chunk.h"
#include "compression/parts.h"
#include "compression/sparse/sparse_codec.h"
#include "compression/workspace.h"

namespace skerry::compression {
namespace {

constexpr size_t kChunk = cpu::kChunkElements;
// Values that share their levels.
constexpr size_t kGroupChunks = 16;
constexpr size_t kGroup = kGroupChunks * kChunk;
static_assert(kPartElements % kGroup == 0);
constexpr int kIndexBits = 12;
constexpr int kCodeBits = 2;
constexpr size_t kLevels = size_t{1} << kCodeBits;
constexpr size_t kBookBytes = kLevels * sizeof(float);
static_assert(kLevels == cpu::kBins && kChunk == cpu::kBinnedMost);
constexpr size_t kSlack =
    std::max({cpu::kChunkSlack, cpu::kBinnedSlack, cpu::kMarkedSlack});

// Accumulators whose memory is asked for at once.
constexpr size_t kPlacesAhead = 128;
constexpr size_t kRangesPerThread = 8;

using Book = std::array<float, kLevels>;

constexpr size_t BytesOf(size_t count, int bits) {
  return (count * bits + 7) / 8;
}

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

// What makes up the levels of a group.
struct GroupSums {
  uint64_t count = 0;
  cpu::Moments moments;
  cpu::EdgeSums from;
};

// The least fp32 for which `holds`, which holds for all above it, too; infinite
// where there is none.
template <typename Holds>
float LeastOf(const Holds& holds) {
  // The order of patterns is that of magnitudes.
  const auto at = [](int64_t rank) {
    const auto size = static_cast<uint32_t>(rank < 0 ? -rank - 1 : rank);
    return std::bit_cast<float>(rank < 0 ? size | 0x80000000u : size);
  };
  int64_t high = cpu::kInfinityBits;
  int64_t low = -high - 2;  // below all
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (holds(at(middle)) ? high : low) = middle;
  }
  return at(high);
}

// Four bins of 1.5 standard deviations about the mean; what lies outside takes
// the nearest bin. With no deviation all are in the third.
cpu::BinEdges EdgesOf(const cpu::Moments& sent, size_t count) {
  const double mean = sent.sum / static_cast<double>(count);
  const double variance =
      sent.squares / static_cast<double>(count) - mean * mean;
  const double width = variance > 0.0 ? 1.5 * std::sqrt(variance) : 0.0;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (!(width > 0.0)) return {-kInfinity, -kInfinity, kInfinity};
  // A quotient rounds to 1 or above exactly where it is 1 or above, so no
  // division is needed.
  const auto from = [&](double edge) {
    return LeastOf([&](float value) { return value - mean >= edge; });
  };
  return {from(-width), from(0.0), from(width)};
}

// The mean of each bin's values; 0 of an empty one.
Book BookOf(const GroupSums& group) {
  Book book{};
  double sum = 0.0;
  uint64_t count = 0;
  for (size_t code = kLevels; code-- > 0;) {
    const double from =
        code > 0 ? group.from.sums[code - 1] : group.moments.sum;
    const uint64_t reach = code > 0 ? group.from.counts[code - 1] : group.count;
    if (reach > count) {
      book[code] =
          static_cast<float>((from - sum) / static_cast<double>(reach - count));
    }
    sum = from;
    count = reach;
  }
  return book;
}

class ChunkTopK final : public Codec {
 public:
  explicit ChunkTopK(size_t kept) : kept_(kept) {}

  CodecId id() const override { return CodecId::kChunkTopK; }

  size_t MaxEncodedBytes(size_t elements) const override {
    const size_t groups = (elements + kGroup - 1) / kGroup;
    const size_t last = elements % kChunk;
    return groups * kBookBytes + elements / kChunk * ChunkBytes(kChunk) +
           (last == 0 ? 0 : ChunkBytes(last));
  }

  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload,
                      Workspace& workspace) const override {
    payload.resize(MaxEncodedBytes(values.size()));
    if (values.empty()) return absl::OkStatus();
    // The first chunk says where the thresholds of all others are looked for.
    cpu::ChunkGuess first_guess;
    GroupSums first;
    Select(values.first(std::min(kChunk, values.size())), first_guess, Room(),
           payload.data(), first);
    const auto encode = [&](size_t begin, size_t end) {
      cpu::ChunkGuess guess = first_guess;
      for (; begin < end; begin += kGroup) {
        const size_t size = std::min(kGroup, end - begin);
        if (!EncodeGroup(values.subspan(begin, size), guess,
                         payload.data() + begin / kGroup * GroupBytes())) {
          return false;
        }
      }
      return true;
    };
    if (!EveryPart(values.size(), *workspace.executor, encode)) {
      return NotFiniteError(values, "chunk_top_k");
    }
    return absl::OkStatus();
  }

  absl::Status Decode(std::span<const std::byte> payload,
                      std::span<float> values,
                      Workspace& workspace) const override {
    return DecodeAll</*kAdd=*/false>(payload, values, workspace);
  }

  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators,
                         Workspace& workspace) const override {
    return DecodeAll</*kAdd=*/true>(payload, accumulators, workspace);
  }

 private:
  // Of a chunk of so many values.
  size_t SentOf(size_t size) const { return std::min(kept_, size); }
  bool IsMarked(size_t size) const { return SentOf(size) * kIndexBits > size; }
  size_t PlacesBytes(size_t size) const {
    return IsMarked(size) ? BytesOf(size, 1)
                          : BytesOf(SentOf(size), kIndexBits);
  }
  size_t ChunkBytes(size_t size) const {
    return PlacesBytes(size) + BytesOf(SentOf(size), kCodeBits);
  }
  // Of a whole one.
  size_t GroupBytes() const {
    return kBookBytes + kGroup / kChunk * ChunkBytes(kChunk);
  }

  // Floats from what one chunk sends to what the next of its group does.
  size_t Stride() const { return kept_ + kSlack; }

  // For what a group sends, until its levels are known. The thread's own, so
  // that it stays in its cache.
  float* Room() const {
    return ThreadWorkspace().sent.Room(kGroup / kChunk * Stride());
  }

  // Calls use(values, which of the group, their bytes) for each chunk.
  template <typename Use>
  void EveryChunk(std::span<const float> group, std::byte* out,
                  const Use& use) const {
    out += kBookBytes;
    for (size_t i = 0; !group.empty(); ++i) {
      const auto chunk = group.first(std::min(kChunk, group.size()));
      use(chunk, i, out);
      out += ChunkBytes(chunk.size());
      group = group.subspan(chunk.size());
    }
  }

  // False where a value is not finite.
  bool EncodeGroup(std::span<const float> group, cpu::ChunkGuess& guess,
                   std::byte* out) const {
    float* const sent = Room();
    GroupSums sums;
    EveryChunk(group, out, [&](auto chunk, size_t i, std::byte* at) {
      Select(chunk, guess, sent + i * Stride(), at, sums);
    });
    // Squares of fp32 do not overflow in float64.
    if (!std::isfinite(sums.moments.squares)) return false;
    const cpu::BinEdges edges = EdgesOf(sums.moments, sums.count);
    EveryChunk(group, out, [&](auto chunk, size_t i, std::byte* at) {
      const cpu::EdgeSums from =
          cpu::BinAll(sent + i * Stride(), SentOf(chunk.size()), edges,
                      at + PlacesBytes(chunk.size()));
      for (size_t edge = 0; edge < from.sums.size(); ++edge) {
        sums.from.sums[edge] += from.sums[edge];
        sums.from.counts[edge] += from.counts[edge];
      }
    });
    const Book book = BookOf(sums);
    std::memcpy(out, book.data(), kBookBytes);
    return true;
  }

  // Leaves what a chunk sends, writes its places, and sums it.
  void Select(std::span<const float> chunk, cpu::ChunkGuess& guess, float* sent,
              std::byte* out, GroupSums& sums) const {
    const size_t count = SentOf(chunk.size());
    if (IsMarked(chunk.size())) {
      uint64_t words[cpu::kChunkWords];
      cpu::MarkChunk(chunk, count, guess, words, sent);
      std::memcpy(out, words, PlacesBytes(chunk.size()));
    } else {
      uint32_t places[kChunk + kSlack];
      if (!cpu::SelectChunk(chunk, count, guess.magnitude, places, sent)) {
        sums.moments.squares = std::numeric_limits<double>::infinity();
        return;
      }
      cpu::PackPlaces({places, count}, out);
    }
    const cpu::Moments moments = cpu::MomentsOf(sent, count);
    sums.count += count;
    sums.moments.sum += moments.sum;
    sums.moments.squares += moments.squares;
  }

  template <bool kAdd>
  absl::Status DecodeAll(std::span<const std::byte> payload,
                         std::span<float> values, Workspace& workspace) const {
    if (payload.size() != MaxEncodedBytes(values.size())) {
      return absl::DataLossError(absl::StrCat(
          "payload of ", payload.size(),
          " bytes is no chunk_top_k encoding of ", values.size(), " elements"));
    }
    if (!EveryRange(values.size(), *workspace.executor,
                    [&](size_t begin, size_t end) {
                      return DecodeRange<kAdd>(
                          payload.data() + begin / kGroup * GroupBytes(),
                          values.subspan(begin, end - begin));
                    })) {
      return absl::DataLossError(
          "chunk_top_k: a level is not finite, or a chunk has a place out of "
          "order, more or fewer values than it sends, or bits behind its last "
          "one");
    }
    return absl::OkStatus();
  }

  // Reads what a chunk sends while the memory that the one before goes to is on
  // its way.
  template <bool kAdd>
  bool DecodeRange(const std::byte* in, std::span<float> values) const {
    ChunkSent two[2];
    std::span<float> before;
    Book book;
    const size_t ahead = kAdd ? ChunksAhead() : 0;
    for (size_t i = 1; i < ahead; ++i) PrefetchFew(in, values, i);
    for (size_t chunk = 0; chunk * kChunk < values.size(); ++chunk) {
      const std::byte* const from = in + OffsetOf(chunk);
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

  static std::span<float> ChunkOf(std::span<float> values, size_t chunk) {
    const size_t begin = chunk * kChunk;
    return values.subspan(begin, std::min(kChunk, values.size() - begin));
  }

  // Of a chunk, in bytes from where its range begins.
  size_t OffsetOf(size_t chunk) const {
    return chunk / kGroupChunks * GroupBytes() + kBookBytes +
           chunk % kGroupChunks * ChunkBytes(kChunk);
  }

  // How many chunks ahead memory is asked for; 0 where one sends enough to wait
  // for.
  size_t ChunksAhead() const {
    const size_t few = kPlacesAhead / kept_;
    return few > 1 && !IsMarked(kChunk) ? few : 0;
  }

  // Asks for the accumulators of a whole chunk's places, whatever they are.
  void PrefetchFew(const std::byte* in, std::span<float> values,
                   size_t chunk) const {
    if ((chunk + 1) * kChunk > values.size()) return;
    uint16_t places[kPlacesAhead];
    cpu::UnpackPlaces(in + OffsetOf(chunk), {places, kept_});
    for (size_t i = 0; i < kept_; ++i) {
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
    sent.count = SentOf(size);
    const bool good = IsMarked(size)
                          ? ReadWords(in, size, sent)
                          : cpu::UnpackPlaces(in, {sent.places, sent.count}) &&
                                sent.places[sent.count - 1] < size;
    return good &&
           cpu::LevelsOf(in + PlacesBytes(size), sent.count, book, sent.values);
  }

  // Whether as many bits are set as values are sent, and none behind the chunk.
  bool ReadWords(const std::byte* in, size_t size, ChunkSent& sent) const {
    const size_t words = (size + cpu::kMarkedValues - 1) / cpu::kMarkedValues;
    sent.words[words - 1] = 0;
    std::memcpy(sent.words, in, PlacesBytes(size));
    const size_t last = size % cpu::kMarkedValues;
    return cpu::CountMarks({sent.words, words}) == sent.count &&
           (last == 0 || sent.words[words - 1] >> last == 0);
  }

  template <bool kAdd>
  static void Prefetch(std::span<const float> chunk, const ChunkSent& sent) {
    constexpr size_t kLine = 64 / sizeof(float);
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
    if (IsMarked(chunk.size())) {
      kAdd ? cpu::AddMarked(sent.words, sent.values, chunk)
           : cpu::PutMarked(sent.words, sent.values, chunk);
      return;
    }
    if (!kAdd) std::fill(chunk.begin(), chunk.end(), 0.0f);
    for (size_t i = 0; i < sent.count; ++i) {
      float& value = chunk[sent.places[i]];
      value = kAdd ? value + sent.values[i] : sent.values[i];
    }
  }

  const size_t kept_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const Codec>> MakeChunkTopK(size_t kept) {
  if (kept < 1 || kept > kChunk) {
    return absl::InvalidArgumentError(absl::StrCat(
        "chunk_top_k keeps 1 to 4096 values of a chunk, not ", kept));
  }
  return std::make_unique<const ChunkTopK>(kept);
}

}  // namespace skerry::compression
