#include <vector>

#include "compression/sparse/sparse_codec.h"
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

}  // namespace
}  // namespace skerry::compression
