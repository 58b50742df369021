#include "compression/chunk_top_k/chunk_reader.h"

#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "compression/chunk_top_k/chunk_top_k.h"
#include "compression/testing/backward_executor.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

// Several groups, and a last chunk that is not whole.
constexpr size_t kElements = 3 * kGroup + 2 * kChunk + 77;

std::vector<float> Values() {
  Random random(9);
  std::vector<float> values(kElements);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.5);
  }
  return values;
}

std::vector<std::byte> PayloadOf(size_t kept) {
  std::vector<std::byte> payload;
  EXPECT_TRUE((*MakeChunkTopK(kept))->Encode(Values(), payload).ok());
  EXPECT_EQ(payload.size(), ChunkLayout(kept).Bytes(kElements));
  return payload;
}

// From one place of a chunk, asked for many chunks ahead, to a bit for each.
TEST(ChunkReaderTest, WhatIsAddedIsWhatIsPutHoweverFarAheadItIsAskedFor) {
  for (const size_t kept : {1, 16, 63, 64, 65, 128, 300, 1024}) {
    const ChunkLayout layout(kept);
    const std::vector<std::byte> payload = PayloadOf(kept);
    InlineExecutor one;
    BackwardExecutor several(3);
    std::vector<float> put(kElements, 5.0f), again(kElements), added(kElements);
    ASSERT_TRUE(PutChunks(layout, payload, put, one));
    ASSERT_TRUE(PutChunks(layout, payload, again, several));
    EXPECT_EQ(put, again) << kept;
    ASSERT_TRUE(AddChunks(layout, payload, added, several));
    EXPECT_EQ(put, added) << kept;
    size_t sent = 0;
    for (const float value : put) sent += value != 0.0f ? 1 : 0;
    EXPECT_EQ(sent, (3 * kGroupChunks + 2) * kept + layout.SentOf(77)) << kept;
  }
}

TEST(ChunkReaderTest, PlacesThatDoNotAscendAreRefusedInAnyChunk) {
  const ChunkLayout layout(16);
  InlineExecutor executor;
  for (const size_t chunk : {size_t{0}, size_t{5}, 2 * kGroupChunks + 1}) {
    std::vector<std::byte> payload = PayloadOf(16);
    // The first two places become 4095.
    for (size_t i = 0; i < 3; ++i) {
      payload[layout.OffsetOf(chunk) + i] = std::byte{0xff};
    }
    std::vector<float> values(kElements);
    EXPECT_FALSE(PutChunks(layout, payload, values, executor)) << chunk;
    EXPECT_FALSE(AddChunks(layout, payload, values, executor)) << chunk;
  }
}

}  // namespace
}  // namespace skerry::compression
