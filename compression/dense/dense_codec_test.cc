#include "compression/dense/dense_codec.h"

#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "base/executor.h"
#include "base/random.h"
#include "compression/dense/cpu/stores.h"
#include "compression/parts.h"
#include "compression/testing/backward_executor.h"
#include "compression/workspace.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

// Some parts through the caches, some past them, and a last one that is cut.
constexpr size_t kLong =
    cpu::kCachedValueBytesMax / sizeof(float) + 20 * kPartElements + 777;

std::vector<float> Draw() {
  Random random(1);
  std::vector<float> values(kLong);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform()) - 0.5f;
  }
  return values;
}

TEST(DenseCodecTest, LongValuesAreTheSameHoweverTheyAreStored) {
  const std::vector<float> values = Draw();
  InlineExecutor alone;
  BackwardExecutor backward(3);
  for (const NamedCodec& one : DenseCodecs()) {
    const DenseCodec& codec = **FindDenseCodec(one.id);
    Workspace workspace(alone);
    std::vector<std::byte> payload;
    ASSERT_TRUE(codec.Encode(values, payload, workspace).ok());
    // In parts as blocks of others are read: always through the caches.
    std::vector<float> expected(kLong);
    ASSERT_TRUE(codec.DecodeBlocks(payload.data(), 0, kLong, expected));
    for (ParallelExecutor* const executor :
         {static_cast<ParallelExecutor*>(&alone),
          static_cast<ParallelExecutor*>(&backward)}) {
      Workspace other(*executor);
      // From an address that is no multiple of a vector.
      std::vector<float> room(kLong + 2, 7.0f);
      const auto decoded = std::span(room).subspan(1, kLong);
      ASSERT_TRUE(codec.Decode(payload, decoded, other).ok()) << one.name;
      EXPECT_EQ(
          std::memcmp(decoded.data(), expected.data(), kLong * sizeof(float)),
          0)
          << one.name;
      EXPECT_EQ(room.front(), 7.0f);
      EXPECT_EQ(room.back(), 7.0f);
    }
  }
}

TEST(DenseCodecTest, ABrokenCodeIsRefusedInPartsOfBothKinds) {
  const DenseCodec& codec = **FindDenseCodec(CodecId::kInt8Block);
  InlineExecutor alone;
  Workspace workspace(alone);
  std::vector<std::byte> payload;
  ASSERT_TRUE(codec.Encode(Draw(), payload, workspace).ok());
  const size_t codes_at = payload.size() - kLong;
  std::vector<float> decoded(kLong);
  size_t cached = 0;
  size_t past = 0;
  for (size_t part = 0; part < kLong / kPartElements; part += 7) {
    std::byte& code = payload[codes_at + (part + 1) * kPartElements - 1];
    const std::byte whole = code;
    code = std::byte{0x80};
    EXPECT_TRUE(absl::IsDataLoss(codec.Decode(payload, decoded, workspace)))
        << part;
    code = whole;
    const auto stores = cpu::StoresForPart(kLong * sizeof(float), part);
    ++(stores == cpu::Stores::kCached ? cached : past);
  }
  EXPECT_TRUE(codec.Decode(payload, decoded, workspace).ok());
  EXPECT_GT(cached, 0u);
  EXPECT_GT(past, 0u);
}

}  // namespace
}  // namespace skerry::compression
