#include "data/decompressor.h"

#include <gtest/gtest.h>
// What zlib reads it does not change.
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/match.h"

namespace skerry::data {
namespace {

std::string Gzip(std::string_view text) {
  z_stream stream = {};
  EXPECT_EQ(
      deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
      Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<const Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string Zstd(std::string_view text, int window_log = 0) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  if (window_log > 0) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  }
  std::string packed(ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  // Streamed, so that the frame names its window and not its size.
  EXPECT_NE(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), size_t(-1));
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0u);
  ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  return packed;
}

// Unpacks with so many bytes of each at a time.
absl::StatusOr<std::string> Unpack(const std::string& packed, size_t in_bytes,
                                   size_t out_bytes) {
  const auto decompressor = MakeDecompressor(PackingOf(packed));
  std::span<const std::byte> in =
      std::as_bytes(std::span(packed.data(), packed.size()));
  std::string text;
  std::string out(out_bytes, '\0');
  while (true) {
    const auto step =
        decompressor->Next(in.first(std::min(in.size(), in_bytes)),
                           std::as_writable_bytes(std::span(out)));
    if (!step.ok()) return step.status();
    text += out.substr(0, step->made);
    in = in.subspan(step->taken);
    if (in.empty() && step->made == 0) break;
    if (step->taken == 0 && step->made == 0) {
      ADD_FAILURE() << "it does not get on";
      break;
    }
  }
  const absl::Status end = decompressor->CheckEnd();
  if (!end.ok()) return end;
  return text;
}

class DecompressorTest : public testing::TestWithParam<bool> {
 protected:
  DecompressorTest() {
    for (int i = 0; i < 3000; ++i) text_ += "line " + std::to_string(i) + "\n";
  }
  std::string Pack(std::string_view text) {
    return GetParam() ? Gzip(text) : Zstd(text);
  }
  std::string Refusal(const std::string& packed) {
    const auto text = Unpack(packed, 1000, 1000);
    EXPECT_TRUE(absl::IsInvalidArgument(text.status())) << text.status();
    return std::string(text.status().message());
  }
  std::string text_;
};

TEST_P(DecompressorTest, PiecesOfAnySizeGiveTheText) {
  const std::string packed = Pack(text_);
  ASSERT_LT(packed.size(), text_.size());
  for (const size_t in : {1, 7, 100000}) {
    for (const size_t out : {1, 13, 100000}) {
      const auto text = Unpack(packed, in, out);
      ASSERT_TRUE(text.ok()) << text.status();
      EXPECT_EQ(*text, text_) << in << " and " << out;
    }
  }
  EXPECT_EQ(*Unpack(Pack(""), 3, 3), "");
}

TEST_P(DecompressorTest, PartsOneAfterAnotherAreOneText) {
  const auto text = Unpack(Pack("one ") + Pack("") + Pack(text_), 50, 50);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "one " + text_);
}

TEST_P(DecompressorTest, WhatIsCutOffAnywhereIsRefused) {
  const std::string packed = Pack(text_);
  for (size_t size = 4; size < packed.size(); size += 1 + size / 9) {
    EXPECT_TRUE(
        absl::StartsWith(Refusal(packed.substr(0, size)), "is cut off: "))
        << size;
  }
}

TEST_P(DecompressorTest, AChangedBitIsNoticedByTheChecksum) {
  const std::string packed = Pack(text_);
  for (size_t at = packed.size() / 2; at < packed.size(); at += 97) {
    std::string other = packed;
    other[at] = static_cast<char>(other[at] ^ 4);
    EXPECT_TRUE(absl::StartsWith(Refusal(other), "is ")) << at;
  }
  EXPECT_TRUE(absl::StartsWith(Refusal(packed + "text"), "is damaged: "));
}

INSTANTIATE_TEST_SUITE_P(Kinds, DecompressorTest, testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "Gzip" : "Zstd";
                         });

TEST(GzipDecompressorTest, ZerosBehindTheEndArePadding) {
  EXPECT_EQ(*Unpack(Gzip("text") + std::string(1000, '\0'), 70, 70), "text");
}

// Its memory is what the file asks for, up to a limit.
TEST(ZstdDecompressorTest, ALargerWindowThanAllowedIsRefusedWithTheCure) {
  EXPECT_EQ(*Unpack(Zstd("text", kZstdWindowLogMax), 70, 70), "text");
  const auto refused = Unpack(Zstd("text", kZstdWindowLogMax + 1), 70, 70);
  EXPECT_TRUE(absl::StrContains(refused.status().message(),
                                "a window above 128 MiB; unpack it first: "
                                "zstd -dc --long=31"))
      << refused.status();
}

// A frame that states 109 bytes and has one last block of none. The library
// accepts it in pieces and refuses it whole.
TEST(ZstdDecompressorTest, AFrameShorterThanItStatesIsRefusedInAnyPieces) {
  const std::string packed("\x28\xb5\x2f\xfd\x21\x00\x6d\x01\x00\x00", 10);
  for (const size_t in : {1, 3, 1000}) {
    for (const size_t out : {1, 1000}) {
      const auto text = Unpack(packed, in, out);
      EXPECT_EQ(text.status().message(),
                "is damaged: its zstd data have a frame of 0 bytes that states "
                "109; get the file anew");
    }
  }
}

// The library reads formats from before zstd 0.8, if their magic number begins
// a piece.
TEST(ZstdDecompressorTest, AnOldFormatIsRefusedInAnyPieces) {
  const std::string packed =
      Zstd("text") + std::string("\x25\xb5\x2f\xfd\x00", 5);
  for (size_t piece = 1; piece < 40; ++piece) {
    EXPECT_EQ(Unpack(packed, piece, piece).status().message(),
              "is damaged: its zstd data have something else behind them; get "
              "the file anew");
  }
}

// A frame of four bytes, with its size, for which a window of 256 MiB was
// asked. Whether all of it lies in one piece may not matter.
TEST(ZstdDecompressorTest, ALargerWindowIsRefusedInAnyPieces) {
  const std::string packed(
      "\x28\xb5\x2f\xfd\x80\x90\x04\x00\x00\x00\x21\x00\x00text", 17);
  for (const size_t piece : {1, 1000}) {
    const auto text = Unpack(packed, piece, piece);
    EXPECT_TRUE(absl::StrContains(text.status().message(), "a window above"))
        << text.status();
  }
}

}  // namespace
}  // namespace skerry::data
