#include "worker/core/result_piece.h"

#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using compression::CodecId;

std::vector<std::byte> Encoded(CodecId id, const std::vector<float>& values) {
  std::vector<std::byte> bytes;
  EXPECT_TRUE((*compression::FindCodec(id))->Encode(values, bytes).ok());
  return bytes;
}

std::vector<float> Numbers(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.Uniform() - 0.5);
  return values;
}

TEST(ResultPieceTest, MeanIsWhatItsBytesDecodeTo) {
  const auto bytes = Encoded(CodecId::kRawF32, {1, 2, 3});
  const auto piece = WriteResultPiece(
      PieceShape::kMean, {{{CodecId::kRawF32, {SharedBytes(bytes)}}}});
  std::vector<float> mean(3);
  ASSERT_TRUE(DecodeMean(piece, 99, mean).ok());
  EXPECT_EQ(mean, (std::vector<float>{1, 2, 3}));
}

TEST(ResultPieceTest, MembersAreSummedInOrderAndDivided) {
  const auto a = Numbers(1, 1000);
  const auto b = Numbers(2, 1000);
  const auto bytes_a = Encoded(CodecId::kRawF32, a);
  const auto bytes_b = Encoded(CodecId::kInt8Block, b);
  std::vector<float> decoded_b(1000);
  ASSERT_TRUE((*compression::FindCodec(CodecId::kInt8Block))
                  ->Decode(bytes_b, decoded_b)
                  .ok());
  const SharedBytes whole(bytes_a);
  const auto piece = WriteResultPiece(
      PieceShape::kMembers,
      {{{CodecId::kRawF32, {whole.Part(0, 300), whole.Part(300, 3700)}},
        {CodecId::kInt8Block, {SharedBytes(bytes_b)}}}});
  std::vector<float> mean(1000);
  ASSERT_TRUE(DecodeMean(piece, 12, mean).ok());
  for (size_t i = 0; i < mean.size(); ++i) {
    EXPECT_EQ(mean[i], (a[i] + decoded_b[i]) / 12.0f);
  }
}

TEST(ResultPieceTest, EveryCutAndEveryFlippedHeadByteIsRefused) {
  const auto bytes = Encoded(CodecId::kRawF32, {1, 2, 3});
  const auto piece = WriteResultPiece(
      PieceShape::kMean, {{{CodecId::kRawF32, {SharedBytes(bytes)}}}});
  std::vector<float> mean(3);
  for (size_t size = 0; size < piece.size(); ++size) {
    EXPECT_FALSE(DecodeMean(std::span(piece).first(size), 1, mean).ok());
  }
  for (size_t at = 0; at < 24; ++at) {
    auto damaged = piece;
    damaged[at] ^= std::byte{0x80};
    EXPECT_FALSE(DecodeMean(damaged, 1, mean).ok()) << at;
  }
  auto longer = piece;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(DecodeMean(longer, 1, mean).ok());
  std::vector<float> other(4);
  EXPECT_TRUE(absl::IsDataLoss(DecodeMean(piece, 1, other)));
}

}  // namespace
}  // namespace skerry::worker
