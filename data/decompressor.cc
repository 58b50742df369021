#include "data/decompressor.h"

// What zlib reads it does not change.
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::data {
namespace {

absl::Status CutOff(absl::string_view packing) {
  return absl::InvalidArgumentError(absl::StrCat(
      "is cut off: its ", packing, " data have no end; get the file anew"));
}

absl::Status Damaged(absl::string_view packing, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "is damaged: its ", packing, " data have ", why, "; get the file anew"));
}

class GzipDecompressor final : public Decompressor {
 public:
  GzipDecompressor() {
    // Gzip alone, with the largest window of all.
    constexpr int kWindowBits = 15 + 16;
    SKERRY_CHECK(inflateInit2(&stream_, kWindowBits) == Z_OK);
  }
  ~GzipDecompressor() override { inflateEnd(&stream_); }
  GzipDecompressor(const GzipDecompressor&) = delete;
  GzipDecompressor& operator=(const GzipDecompressor&) = delete;

  absl::StatusOr<Step> Next(std::span<const std::byte> in,
                            std::span<std::byte> out) override {
    if (in.empty() && place_ != Place::kInside) return Step{};
    if (place_ == Place::kPadding ||
        (place_ == Place::kBetween && in[0] == std::byte{0})) {
      return SkipPadding(in);
    }
    if (place_ == Place::kBetween) {
      SKERRY_CHECK(inflateReset(&stream_) == Z_OK);
      place_ = Place::kInside;
    }
    return Inflate(in, out);
  }

  absl::Status CheckEnd() const override {
    return place_ == Place::kInside ? CutOff("gzip") : absl::OkStatus();
  }

 private:
  enum class Place { kInside, kBetween, kPadding };

  static uInt Clamp(size_t size) {
    return static_cast<uInt>(
        std::min<size_t>(size, std::numeric_limits<uInt>::max()));
  }

  absl::StatusOr<Step> Inflate(std::span<const std::byte> in,
                               std::span<std::byte> out) {
    stream_.next_in = reinterpret_cast<const Bytef*>(in.data());
    stream_.avail_in = Clamp(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = Clamp(out.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    const Step step{Clamp(in.size()) - stream_.avail_in,
                    Clamp(out.size()) - stream_.avail_out};
    if (code == Z_STREAM_END) {
      place_ = Place::kBetween;
      return step;
    }
    // Nothing could get on.
    if (code == Z_OK || code == Z_BUF_ERROR) return step;
    if (code == Z_MEM_ERROR) {
      return absl::ResourceExhaustedError("there is no memory to unpack it");
    }
    return Damaged(
        "gzip",
        absl::StrCat("an error (",
                     stream_.msg == nullptr ? "unknown" : stream_.msg, ")"));
  }

  // Tapes and some programs fill up a file with zeros.
  absl::StatusOr<Step> SkipPadding(std::span<const std::byte> in) {
    place_ = Place::kPadding;
    if (std::any_of(in.begin(), in.end(),
                    [](std::byte byte) { return byte != std::byte{0}; })) {
      return Damaged("gzip", "something else behind them");
    }
    return Step{in.size(), 0};
  }

  z_stream stream_ = {};
  Place place_ = Place::kInside;
};

// The longest header of a frame (RFC 8878, 3.1.1).
constexpr size_t kZstdHeaderMax = 18;
constexpr size_t kZstdMagicBytes = 4;

class ZstdDecompressor final : public Decompressor {
 public:
  ZstdDecompressor() : stream_(ZSTD_createDStream()) {
    SKERRY_CHECK(stream_ != nullptr);
    SKERRY_CHECK(!ZSTD_isError(ZSTD_DCtx_setParameter(
        stream_, ZSTD_d_windowLogMax, kZstdWindowLogMax)));
  }
  ~ZstdDecompressor() override { ZSTD_freeDStream(stream_); }
  ZstdDecompressor(const ZstdDecompressor&) = delete;
  ZstdDecompressor& operator=(const ZstdDecompressor&) = delete;

  absl::StatusOr<Step> Next(std::span<const std::byte> in,
                            std::span<std::byte> out) override {
    if (in.empty() && is_between_) return Step{};
    if (frame_bytes_ < kZstdMagicBytes) return Begin(in);
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const size_t left = ZSTD_decompressStream(stream_, &to, &from);
    if (ZSTD_isError(left)) return Refusal(left);
    KeepHead(in.first(from.pos));
    frame_made_ += to.pos;
    is_between_ = left == 0;
    if (is_between_) {
      if (auto status = CheckFrameSize(); !status.ok()) return status;
      frame_bytes_ = 0;
      frame_made_ = 0;
    }
    return Step{from.pos, to.pos};
  }

  absl::Status CheckEnd() const override {
    return is_between_ ? absl::OkStatus() : CutOff("zstd");
  }

 private:
  // Takes the magic number of a frame and gives it to the library by itself.
  // The library looks for old formats at the beginning of a piece only, and
  // decodes a frame that lies whole in a piece another way, which checks less
  // in one place and more in another. So the pieces would decide what is
  // accepted.
  absl::StatusOr<Step> Begin(std::span<const std::byte> in) {
    in = in.first(std::min<size_t>(in.size(), kZstdMagicBytes - frame_bytes_));
    KeepHead(in);
    is_between_ = false;
    if (frame_bytes_ < kZstdMagicBytes) return Step{in.size(), 0};
    if (!HasMagic()) {
      return Damaged("zstd", "something else behind them");
    }
    ZSTD_inBuffer from{head_.data(), kZstdMagicBytes, 0};
    ZSTD_outBuffer none{nullptr, 0, 0};
    const size_t left = ZSTD_decompressStream(stream_, &none, &from);
    if (ZSTD_isError(left)) return Refusal(left);
    SKERRY_CHECK(from.pos == kZstdMagicBytes);
    return Step{in.size(), 0};
  }

  // Whether the head is the magic number of a frame, little-endian.
  bool HasMagic() const {
    uint32_t magic = 0;
    std::memcpy(&magic, head_.data(), sizeof(magic));
    return magic == ZSTD_MAGICNUMBER ||
           (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
  }

  static absl::Status Refusal(size_t code) {
    switch (ZSTD_getErrorCode(code)) {
      case ZSTD_error_frameParameter_windowTooLarge:
        return absl::InvalidArgumentError(
            absl::StrCat("was compressed by zstd with a window above ",
                         (uint64_t{1} << kZstdWindowLogMax) >> 20,
                         " MiB; unpack it first: zstd -dc --long=31"));
      case ZSTD_error_memory_allocation:
        return absl::ResourceExhaustedError("there is no memory to unpack it");
      default:
        return Damaged(
            "zstd", absl::StrCat("an error (", ZSTD_getErrorName(code), ")"));
    }
  }

  void KeepHead(std::span<const std::byte> taken) {
    if (frame_bytes_ < head_.size()) {
      const size_t room = head_.size() - frame_bytes_;
      std::copy_n(taken.begin(), std::min(room, taken.size()),
                  head_.begin() + frame_bytes_);
    }
    frame_bytes_ += taken.size();
  }

  // The library does not compare the size that a frame states with what it
  // made if the last block is empty.
  absl::Status CheckFrameSize() const {
    const auto stated = ZSTD_getFrameContentSize(
        head_.data(), std::min<size_t>(frame_bytes_, head_.size()));
    if (stated == ZSTD_CONTENTSIZE_UNKNOWN ||
        stated == ZSTD_CONTENTSIZE_ERROR || stated == frame_made_) {
      return absl::OkStatus();
    }
    return Damaged("zstd", absl::StrCat("a frame of ", frame_made_,
                                        " bytes that states ", stated));
  }

  ZSTD_DStream* stream_;
  bool is_between_ = false;
  // The frame at hand: its first bytes, and how many were taken and made.
  std::array<std::byte, kZstdHeaderMax> head_;
  uint64_t frame_bytes_ = 0;
  uint64_t frame_made_ = 0;
};

}  // namespace

std::unique_ptr<Decompressor> MakeDecompressor(Packing packing) {
  SKERRY_CHECK(packing != Packing::kNone);
  if (packing == Packing::kGzip) return std::make_unique<GzipDecompressor>();
  return std::make_unique<ZstdDecompressor>();
}

}  // namespace skerry::data
