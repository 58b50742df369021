// The layout of SparseLoCo: 12-bit places and 2-bit values of each 4096.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compression/codec_errors.h"
#include "compression/cpu/select.h"
#include "compression/sparse/sparse_codec.h"

namespace skerry::compression {
namespace {

constexpr size_t kChunk = 4096;
constexpr int kIndexBits = 12;
constexpr int kCodeBits = 2;
constexpr size_t kLevels = size_t{1} << kCodeBits;
constexpr size_t kBookBytes = kLevels * sizeof(float);

using Book = std::array<float, kLevels>;

constexpr size_t BytesOf(size_t count, int bits) {
  return (count * bits + 7) / 8;
}

// Fields of at most 12 bits, lowest bit first.
class BitWriter {
 public:
  explicit BitWriter(std::byte* out) : out_(out) {}
  void Put(uint32_t value, int bits) {
    pending_ |= value << held_;
    for (held_ += bits; held_ >= 8; held_ -= 8) {
      *out_++ = static_cast<std::byte>(pending_);
      pending_ >>= 8;
    }
  }
  // The rest of the last byte is 0.
  std::byte* Finish() {
    if (held_ > 0) *out_++ = static_cast<std::byte>(pending_);
    return out_;
  }

 private:
  std::byte* out_;
  uint32_t pending_ = 0;
  int held_ = 0;
};

class BitReader {
 public:
  explicit BitReader(const std::byte* in) : in_(in) {}
  uint32_t Get(int bits) {
    for (; held_ < bits; held_ += 8) {
      pending_ |= std::to_integer<uint32_t>(*in_++) << held_;
    }
    const uint32_t value = pending_ & ((1u << bits) - 1);
    pending_ >>= bits;
    held_ -= bits;
    return value;
  }
  // Whether all that is left of the last byte is 0.
  bool RestIsZero() const { return pending_ == 0; }

 private:
  const std::byte* in_;
  uint32_t pending_ = 0;
  int held_ = 0;
};

// Four bins of 1.5 standard deviations about the mean; what lies outside takes
// the nearest bin.
struct Bins {
  double mean = 0.0;
  double width = 0.0;
  uint32_t CodeOf(float value) const {
    if (!(width > 0.0)) return kLevels / 2;
    const double bin = std::floor((value - mean) / width) + kLevels / 2;
    return static_cast<uint32_t>(std::clamp(bin, 0.0, kLevels - 1.0));
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
Book BookOf(std::span<const float> kept, const Bins& bins) {
  std::array<double, kLevels> sums{};
  std::array<double, kLevels> counts{};
  for (const float value : kept) {
    const uint32_t code = bins.CodeOf(value);
    sums[code] += value;
    counts[code] += 1.0;
  }
  Book book{};
  for (size_t code = 0; code < kLevels; ++code) {
    if (counts[code] == 0.0) continue;
    book[code] = static_cast<float>(sums[code] / counts[code]);
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
                      std::vector<std::byte>& payload) const override {
    if (!cpu::AllFinite(values)) return NotFiniteError(values, "chunk_top_k");
    std::vector<uint64_t> indices;
    indices.reserve((values.size() / kChunk + 1) * kept_);
    for (size_t begin = 0; begin < values.size(); begin += kChunk) {
      const size_t size = std::min(kChunk, values.size() - begin);
      cpu::CollectTopK(values.subspan(begin, size), std::min(kept_, size),
                       begin, indices);
    }
    std::vector<float> kept(indices.size());
    for (size_t i = 0; i < kept.size(); ++i) kept[i] = values[indices[i]];
    const Bins bins = BinsOf(kept);
    const Book book = BookOf(kept, bins);
    payload.resize(MaxEncodedBytes(values.size()));
    if (values.empty()) return absl::OkStatus();
    std::memcpy(payload.data(), book.data(), kBookBytes);
    std::byte* out = payload.data() + kBookBytes;
    size_t at = 0;
    for (size_t begin = 0; begin < values.size(); begin += kChunk) {
      const size_t size = std::min(kChunk, values.size() - begin);
      const size_t count = std::min(kept_, size);
      BitWriter places(out);
      for (size_t i = at; i < at + count; ++i) {
        places.Put(static_cast<uint32_t>(indices[i] - begin), kIndexBits);
      }
      BitWriter codes(places.Finish());
      for (size_t i = at; i < at + count; ++i) {
        codes.Put(bins.CodeOf(kept[i]), kCodeBits);
      }
      out = codes.Finish();
      at += count;
    }
    return absl::OkStatus();
  }

  absl::Status Decode(std::span<const std::byte> payload,
                      std::span<float> values) const override {
    std::fill(values.begin(), values.end(), 0.0f);
    return DecodeAdd(payload, values);
  }

  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators) const override {
    if (payload.size() != MaxEncodedBytes(accumulators.size())) {
      return absl::DataLossError(
          absl::StrCat("payload of ", payload.size(),
                       " bytes is no chunk_top_k encoding of ",
                       accumulators.size(), " elements"));
    }
    if (accumulators.empty()) return absl::OkStatus();
    Book book;
    std::memcpy(book.data(), payload.data(), kBookBytes);
    for (const float level : book) {
      if (!std::isfinite(level)) {
        return absl::DataLossError("chunk_top_k: a level is not finite");
      }
    }
    const std::byte* in = payload.data() + kBookBytes;
    for (size_t begin = 0; begin < accumulators.size(); begin += kChunk) {
      const auto chunk = accumulators.subspan(
          begin, std::min(kChunk, accumulators.size() - begin));
      if (!AddChunk(in, book, chunk)) {
        return absl::DataLossError(absl::StrCat(
            "chunk_top_k: the chunk at ", begin,
            " has a place out of order or bits behind its last one"));
      }
      in += ChunkBytes(std::min(kept_, chunk.size()));
    }
    return absl::OkStatus();
  }

 private:
  static size_t ChunkBytes(size_t count) {
    return BytesOf(count, kIndexBits) + BytesOf(count, kCodeBits);
  }

  bool AddChunk(const std::byte* in, const Book& book,
                std::span<float> chunk) const {
    const size_t count = std::min(kept_, chunk.size());
    BitReader places(in);
    BitReader codes(in + BytesOf(count, kIndexBits));
    size_t next = 0;
    for (size_t i = 0; i < count; ++i) {
      const size_t place = places.Get(kIndexBits);
      if (place < next || place >= chunk.size()) return false;
      chunk[place] += book[codes.Get(kCodeBits)];
      next = place + 1;
    }
    return places.RestIsZero() && codes.RestIsZero();
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
