// The layout of SparseLoCo: 12-bit places and 2-bit values of each 4096.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compression/codec_errors.h"
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

using Book = std::array<float, kLevels>;

constexpr size_t BytesOf(size_t count, int bits) {
  return (count * bits + 7) / 8;
}

// Two places take three bytes, lowest bit first; the last half byte is 0.
void PackPlaces(std::span<const uint32_t> places, std::byte* out) {
  size_t i = 0;
  for (; i + 2 <= places.size(); i += 2, out += 3) {
    const uint32_t two = places[i] | places[i + 1] << kIndexBits;
    out[0] = static_cast<std::byte>(two);
    out[1] = static_cast<std::byte>(two >> 8);
    out[2] = static_cast<std::byte>(two >> 16);
  }
  if (i == places.size()) return;
  out[0] = static_cast<std::byte>(places[i]);
  out[1] = static_cast<std::byte>(places[i] >> 8);
}

// Place `i` of those that PackPlaces wrote.
uint32_t PlaceAt(const std::byte* in, size_t i) {
  in += i / 2 * 3 + i % 2;
  const uint32_t two =
      std::to_integer<uint32_t>(in[0]) | std::to_integer<uint32_t>(in[1]) << 8;
  return i % 2 == 0 ? two & 0xfff : two >> 4;
}

// Four codes a byte, lowest bits first; the rest of the last byte is 0.
void PackCodes(std::span<const std::byte> codes, std::byte* out) {
  size_t i = 0;
  for (; i + 4 <= codes.size(); i += 4, ++out) {
    *out = codes[i] | codes[i + 1] << kCodeBits |
           codes[i + 2] << (2 * kCodeBits) | codes[i + 3] << (3 * kCodeBits);
  }
  if (i == codes.size()) return;
  std::byte rest{};
  for (size_t j = i; j < codes.size(); ++j) {
    rest |= codes[j] << (kCodeBits * (j - i));
  }
  *out = rest;
}

uint32_t CodeAt(const std::byte* in, size_t i) {
  return std::to_integer<uint32_t>(in[i / 4] >> (kCodeBits * (i % 4))) &
         (kLevels - 1);
}

// Whether no bit is set behind the last field.
bool RestIsZero(const std::byte* in, size_t count, int bits) {
  const size_t used = count * bits % 8;
  return used == 0 || (in[count * bits / 8] >> used) == std::byte{0};
}

// Four bins of 1.5 standard deviations about the mean; what lies outside takes
// the nearest bin.
struct Bins {
  double mean = 0.0;
  double width = 0.0;
  // A quotient rounds to 1 or above exactly where it is 1 or above, so no
  // division is needed.
  uint32_t CodeOf(float value) const {
    if (!(width > 0.0)) return kLevels / 2;
    const double from_mean = value - mean;
    return (from_mean >= -width ? 1 : 0) + (from_mean >= 0.0 ? 1 : 0) +
           (from_mean >= width ? 1 : 0);
  }
};

Bins BinsOf(std::span<const float> kept) {
  double sum = 0.0;
  for (const float value : kept) sum += value;
  const double count = std::max<double>(static_cast<double>(kept.size()), 1);
  const double mean = sum / count;
  double squares = 0.0;
  for (const float value : kept) squares += (value - mean) * (value - mean);
  return {mean, 6.0 / kLevels * std::sqrt(squares / count)};
}

// The mean of each bin's values; 0 of an empty one.
Book BookOf(std::span<const float> kept, std::span<const std::byte> codes) {
  // One sum a level, each to stay in a register: adding 0 changes none, and is
  // quicker than to choose one in memory.
  double sum0 = 0.0;
  double sum1 = 0.0;
  double sum2 = 0.0;
  double sum3 = 0.0;
  uint64_t count0 = 0;
  uint64_t count1 = 0;
  uint64_t count2 = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto code = std::to_integer<uint64_t>(codes[i]);
    const auto bits = std::bit_cast<uint64_t>(static_cast<double>(kept[i]));
    // 1 or 0, in a way that compilers leave without a branch.
    const auto is = [&](uint64_t level) { return ((code ^ level) - 1) >> 63; };
    const auto if_code = [&](uint64_t level) {
      return std::bit_cast<double>(bits & (0 - is(level)));
    };
    sum0 += if_code(0);
    sum1 += if_code(1);
    sum2 += if_code(2);
    sum3 += if_code(3);
    count0 += is(0);
    count1 += is(1);
    count2 += is(2);
  }
  const std::array<double, kLevels> sums = {sum0, sum1, sum2, sum3};
  const std::array<uint64_t, kLevels> counts = {
      count0, count1, count2, kept.size() - count0 - count1 - count2};
  Book book{};
  for (size_t code = 0; code < kLevels; ++code) {
    if (counts[code] == 0) continue;
    book[code] =
        static_cast<float>(sums[code] / static_cast<double>(counts[code]));
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
    const size_t sent = SentOf(values.size());
    workspace.places.resize(sent);
    workspace.values.resize(sent);
    workspace.bytes.resize(sent);
    if (!Select(values, workspace)) {
      return NotFiniteError(values, "chunk_top_k");
    }
    payload.resize(MaxEncodedBytes(values.size()));
    if (values.empty()) return absl::OkStatus();
    const Bins bins = BinsOf(workspace.values);
    EveryPart(sent, *workspace.executor, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        workspace.bytes[i] =
            static_cast<std::byte>(bins.CodeOf(workspace.values[i]));
      }
      return true;
    });
    const Book book = BookOf(workspace.values, workspace.bytes);
    std::memcpy(payload.data(), book.data(), kBookBytes);
    Pack(values.size(), workspace, payload.data() + kBookBytes);
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

  // Calls use(begin of values, begin of what is sent, its count) for each chunk
  // of [begin, end). Whether all of them returned true.
  template <typename Use>
  bool EveryChunk(size_t begin, size_t end, const Use& use) const {
    for (; begin < end; begin += kChunk) {
      const size_t count = std::min(kept_, end - begin);
      if (!use(begin, begin / kChunk * kept_, count)) return false;
    }
    return true;
  }

  // Places within their chunks, and values.
  bool Select(std::span<const float> values, Workspace& workspace) const {
    const auto select = [&](size_t begin, size_t end, uint32_t& guess) {
      return EveryChunk(begin, end,
                        [&](size_t at, size_t sent_at, size_t count) {
                          return cpu::SelectChunk(
                              values.subspan(at, std::min(kChunk, end - at)),
                              count, guess, workspace.places.data() + sent_at,
                              workspace.values.data() + sent_at);
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

  void Pack(size_t elements, Workspace& workspace, std::byte* out) const {
    const std::span<const uint32_t> places = workspace.places;
    const std::span<const std::byte> codes = workspace.bytes;
    EveryPart(elements, *workspace.executor, [&](size_t part, size_t part_end) {
      return EveryChunk(
          part, part_end, [&](size_t begin, size_t at, size_t count) {
            std::byte* to = out + begin / kChunk * ChunkBytes(kept_);
            PackPlaces(places.subspan(at, count), to);
            PackCodes(codes.subspan(at, count),
                      to + BytesOf(count, kIndexBits));
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
    const std::byte* in = payload.data() + kBookBytes;
    if (!EveryPart(values.size(), *workspace.executor,
                   [&](size_t part, size_t part_end) {
                     return EveryChunk(
                         part, part_end, [&](size_t begin, size_t, size_t) {
                           const auto chunk = values.subspan(
                               begin, std::min(kChunk, part_end - begin));
                           if (!kAdd)
                             std::fill(chunk.begin(), chunk.end(), 0.0f);
                           return AddChunk(
                               in + begin / kChunk * ChunkBytes(kept_), book,
                               chunk);
                         });
                   })) {
      return absl::DataLossError(
          "chunk_top_k: a chunk has a place out of order or bits behind its "
          "last one");
    }
    return absl::OkStatus();
  }

  bool AddChunk(const std::byte* in, const Book& book,
                std::span<float> chunk) const {
    const size_t count = std::min(kept_, chunk.size());
    const std::byte* codes = in + BytesOf(count, kIndexBits);
    size_t next = 0;
    for (size_t i = 0; i < count; ++i) {
      const size_t place = PlaceAt(in, i);
      if (place < next || place >= chunk.size()) return false;
      chunk[place] += book[CodeAt(codes, i)];
      next = place + 1;
    }
    return RestIsZero(in, count, kIndexBits) &&
           RestIsZero(codes, count, kCodeBits);
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
