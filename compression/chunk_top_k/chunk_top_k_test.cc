#include "compression/chunk_top_k/chunk_top_k.h"

#include <vector>

#include "base/random.h"
#include "compression/testing/reference_sparse.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

TEST(ChunkTopKTest, KeepsTheLargestOfEachChunkAndZeroesTheRest) {
  const auto codec = *MakeChunkTopK(/*kept=*/2);
  std::vector<float> values(4096 + 5, 0.25f);
  values[7] = 2.0f;
  values[4000] = -2.0f;
  values[4097] = 3.0f;
  values[4100] = -3.0f;
  std::vector<std::byte> payload;
  ASSERT_TRUE(codec->Encode(values, payload).ok());
  std::vector<float> decoded(values.size(), 9.0f);
  ASSERT_TRUE(codec->Decode(payload, decoded).ok());
  for (size_t i = 0; i < values.size(); ++i) {
    const bool kept = i == 7 || i == 4000 || i == 4097 || i == 4100;
    EXPECT_EQ(decoded[i] != 0.0f, kept) << i;
    if (kept) {
      EXPECT_EQ(decoded[i] > 0, values[i] > 0) << i;
    }
  }
}

// There are ties by the hundred, over chunk borders, so who is first decides.
TEST(ChunkTopKTest, OfEqualMagnitudesTheFirstAreSent) {
  std::vector<float> values(9000);
  Random random(77);
  for (float& value : values) {
    value = static_cast<float>(random.Below(4)) - 1.5f;
  }
  for (const size_t kept : {1, 64, 1024}) {
    std::vector<std::byte> payload;
    ASSERT_TRUE((*MakeChunkTopK(kept))->Encode(values, payload).ok());
    EXPECT_EQ(payload, ReferenceEncodeChunkTopK(values, kept).payload);
  }
}

TEST(ChunkTopKTest, SizesAreThoseOfTheFormatPage) {
  EXPECT_EQ((*MakeChunkTopK(64))->MaxEncodedBytes(4096), 16u + 112u);
  EXPECT_EQ((*MakeChunkTopK(64))->MaxEncodedBytes(4096 + 1000),
            16u + 112u + 112u);
  // Bits instead of places where these are more.
  EXPECT_EQ((*MakeChunkTopK(64))->MaxEncodedBytes(4096 + 3),
            16u + 112u + 1u + 1u);
  EXPECT_EQ((*MakeChunkTopK(341))->MaxEncodedBytes(4096), 16u + 512u + 86u);
  EXPECT_EQ((*MakeChunkTopK(1024))->MaxEncodedBytes(4096), 16u + 512u + 256u);
  EXPECT_EQ((*MakeChunkTopK(1024))->MaxEncodedBytes(17 * 4096),
            2 * 16u + 17 * (512u + 256u));
  EXPECT_EQ((*MakeChunkTopK(64))->MaxEncodedBytes(0), 0u);
}

TEST(ChunkTopKTest, KeepingNoneOrMoreThanAChunkIsRefused) {
  EXPECT_FALSE(MakeChunkTopK(0).ok());
  EXPECT_FALSE(MakeChunkTopK(4097).ok());
}

}  // namespace
}  // namespace skerry::compression
