// The layout of SparseLoCo: 12-bit places and 2-bit values of each 4096.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compression/codec_errors.h"
#include "compression/cpu/bins4.h"
#include "compression/cpu/places12.h"
#include "compression/cpu/select.h"
#include "compression/parts.h"
#include "compression/sparse/sparse_codec.h"

namespace skerry::compression {
namespace {

constexpr size_t kChunk = cpu::kChunkElements;
constexpr int kIndexBits = 12;
constexpr int kCodeBits = 2;
constexpr size_t kLevels = size_t{1} << kCodeBits;
constexpr size_t kBookBytes = kLevels * sizeof(float);
static_assert(kLevels == cpu::kBins && kChunk == cpu::kBinnedMost);
constexpr size_t kSlack = std::max(cpu::kChunkSlack, cpu::kBinnedSlack);

using Book = std::array<float, kLevels>;

constexpr size_t BytesOf(size_t count, int bits) {
  return (count * bits + 7) / 8;
}

// What one chunk sends.
struct ChunkSent {
  size_t count = 0;
  uint16_t places[kChunk];
  float values[kChunk + kSlack];
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
Book BookOf(const cpu::BinSums& bins) {
  Book book{};
  for (size_t code = 0; code < kLevels; ++code) {
    if (bins.counts[code] == 0) continue;
    book[code] = static_cast<float>(bins.sums[code] /
                                    static_cast<double>(bins.counts[code]));
  }
  return book;
}

class ChunkTopK final : public Codec {
 public:
  explicit ChunkTopK(size_t kept) : kept_(kept) {}

  CodecId id() const override { return CodecId::kChunkTopK; }

  size_t MaxEncodedBytes(size_t elements) const override {
    if (elements == 0) return 0;
    const size_t last = std::min(kept_, elements % kChunk);
    return kBookBytes + elements / kChunk * ChunkBytes(kept_) +
           ChunkBytes(last);
  }

  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload,
                      Workspace& workspace) const override {
    payload.resize(MaxEncodedBytes(values.size()));
    if (values.empty()) return absl::OkStatus();
    const size_t chunks = (values.size() + kChunk - 1) / kChunk;
    workspace.chunks.resize(chunks);
    workspace.sent.Room(chunks * Stride());
    std::byte* const out = payload.data() + kBookBytes;
    if (!Select(values, workspace, out)) {
      return NotFiniteError(values, "chunk_top_k");
    }
    cpu::Moments moments;
    for (const ChunkSums& chunk : workspace.chunks) {
      moments.sum += chunk.moments.sum;
      moments.squares += chunk.moments.squares;
    }
    const cpu::BinEdges edges = EdgesOf(moments, SentOf(values.size()));
    Bin(values.size(), edges, workspace, out);
    cpu::BinSums bins;
    for (const ChunkSums& chunk : workspace.chunks) {
      for (size_t code = 0; code < kLevels; ++code) {
        bins.sums[code] += chunk.bins.sums[code];
        bins.counts[code] += chunk.bins.counts[code];
      }
    }
    const Book book = BookOf(bins);
    std::memcpy(payload.data(), book.data(), kBookBytes);
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
  static size_t ChunkBytes(size_t count) {
    return BytesOf(count, kIndexBits) + BytesOf(count, kCodeBits);
  }

  size_t SentOf(size_t elements) const {
    return elements / kChunk * kept_ + std::min(kept_, elements % kChunk);
  }

  // Floats of workspace.sent from what one chunk sends to what the next does.
  size_t Stride() const { return kept_ + kSlack; }

  // Calls use(begin of values, count of what is sent) for each chunk of
  // [begin, end). Whether all of them returned true.
  template <typename Use>
  bool EveryChunk(size_t begin, size_t end, const Use& use) const {
    for (; begin < end; begin += kChunk) {
      if (!use(begin, std::min(kept_, end - begin))) return false;
    }
    return true;
  }

  // Leaves what each chunk sends, writes its places into the payload, and sums
  // it. False where a value is not finite.
  bool Select(std::span<const float> values, Workspace& workspace,
              std::byte* out) const {
    const auto select = [&](size_t part, size_t part_end, uint32_t& guess) {
      return EveryChunk(part, part_end, [&](size_t begin, size_t count) {
        uint32_t places[kChunk + kSlack];
        const size_t chunk = begin / kChunk;
        float* const sent = workspace.sent.get() + chunk * Stride();
        if (!cpu::SelectChunk(
                values.subspan(begin, std::min(kChunk, part_end - begin)),
                count, guess, places, sent)) {
          return false;
        }
        workspace.chunks[chunk].moments = cpu::MomentsOf(sent, count);
        cpu::PackPlaces({places, count}, out + chunk * ChunkBytes(kept_));
        return true;
      });
    };
    // The first chunk says where the thresholds of all others are looked for.
    uint32_t first_guess = 0;
    if (!select(0, std::min(kChunk, values.size()), first_guess)) return false;
    return EveryPart(values.size(), *workspace.executor,
                     [&](size_t begin, size_t end) {
                       uint32_t guess = first_guess;
                       return select(begin, end, guess);
                     });
  }

  // Writes the codes of what each chunk sends, and sums it by them.
  void Bin(size_t elements, const cpu::BinEdges& edges, Workspace& workspace,
           std::byte* out) const {
    EveryPart(elements, *workspace.executor, [&](size_t part, size_t part_end) {
      return EveryChunk(part, part_end, [&](size_t begin, size_t count) {
        const size_t chunk = begin / kChunk;
        workspace.chunks[chunk].bins = cpu::BinAll(
            workspace.sent.get() + chunk * Stride(), count, edges,
            out + chunk * ChunkBytes(kept_) + BytesOf(count, kIndexBits));
        return true;
      });
    });
  }

  template <bool kAdd>
  absl::Status DecodeAll(std::span<const std::byte> payload,
                         std::span<float> values, Workspace& workspace) const {
    if (payload.size() != MaxEncodedBytes(values.size())) {
      return absl::DataLossError(absl::StrCat(
          "payload of ", payload.size(),
          " bytes is no chunk_top_k encoding of ", values.size(), " elements"));
    }
    if (values.empty()) return absl::OkStatus();
    Book book;
    std::memcpy(book.data(), payload.data(), kBookBytes);
    for (const float level : book) {
      if (!std::isfinite(level)) {
        return absl::DataLossError("chunk_top_k: a level is not finite");
      }
    }
    // Zero is what was there before, and of zeros, +0.
    if (!kAdd) {
      for (float& level : book) level += 0.0f;
    }
    const std::byte* const in = payload.data() + kBookBytes;
    if (!EveryPart(
            values.size(), *workspace.executor, [&](size_t begin, size_t end) {
              return DecodePart<kAdd>(in + begin / kChunk * ChunkBytes(kept_),
                                      book, values.subspan(begin, end - begin));
            })) {
      return absl::DataLossError(
          "chunk_top_k: a chunk has a place out of order or bits behind its "
          "last one");
    }
    return absl::OkStatus();
  }

  // Reads what a chunk sends while the memory that the one before goes to is on
  // its way.
  template <bool kAdd>
  bool DecodePart(const std::byte* in, const Book& book,
                  std::span<float> values) const {
    ChunkSent two[2];
    std::span<float> before;
    for (size_t chunk = 0; !values.empty(); ++chunk) {
      const auto mine = values.first(std::min(kChunk, values.size()));
      ChunkSent& sent = two[chunk % 2];
      if (!ReadChunk(in, book, mine.size(), sent)) return false;
      Prefetch<kAdd>(mine, sent);
      if (chunk > 0) Put<kAdd>(two[1 - chunk % 2], before);
      before = mine;
      values = values.subspan(mine.size());
      in += ChunkBytes(kept_);
      if (values.empty()) Put<kAdd>(sent, mine);
    }
    return true;
  }

  bool ReadChunk(const std::byte* in, const Book& book, size_t size,
                 ChunkSent& sent) const {
    sent.count = std::min(kept_, size);
    return cpu::UnpackPlaces(in, {sent.places, sent.count}) &&
           sent.places[sent.count - 1] < size &&
           cpu::LevelsOf(in + BytesOf(sent.count, kIndexBits), sent.count, book,
                         sent.values);
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
  static void Put(const ChunkSent& sent, std::span<float> chunk) {
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
