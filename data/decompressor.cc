#include "data/decompressor.h"

// What zlib reads it does not change.
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstdint>
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
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const size_t left = ZSTD_decompressStream(stream_, &to, &from);
    if (!ZSTD_isError(left)) {
      is_between_ = left == 0;
      return Step{from.pos, to.pos};
    }
    switch (ZSTD_getErrorCode(left)) {
      case ZSTD_error_frameParameter_windowTooLarge:
        return absl::InvalidArgumentError(
            absl::StrCat("was compressed by zstd with a window above ",
                         (uint64_t{1} << kZstdWindowLogMax) >> 20,
                         " MiB; unpack it first: zstd -dc --long=31"));
      case ZSTD_error_memory_allocation:
        return absl::ResourceExhaustedError("there is no memory to unpack it");
      default:
        return Damaged(
            "zstd", absl::StrCat("an error (", ZSTD_getErrorName(left), ")"));
    }
  }

  absl::Status CheckEnd() const override {
    return is_between_ ? absl::OkStatus() : CutOff("zstd");
  }

 private:
  ZSTD_DStream* stream_;
  bool is_between_ = false;
};

}  // namespace

std::unique_ptr<Decompressor> MakeDecompressor(Packing packing) {
  SKERRY_CHECK(packing != Packing::kNone);
  if (packing == Packing::kGzip) return std::make_unique<GzipDecompressor>();
  return std::make_unique<ZstdDecompressor>();
}

}  // namespace skerry::data
