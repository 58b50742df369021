#include "compression/dense/cpu/raw_f32.h"

#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

TEST(RawF32Test, TheBytesAreTheValues) {
  const std::vector<float> values = {1.5f, -0.0f, 1e-42f};
  std::vector<std::byte> bytes(cpu::RawF32::Bytes(values.size()));
  ASSERT_TRUE(cpu::RawF32::Encode(values, bytes.data()));
  EXPECT_EQ(std::memcmp(bytes.data(), values.data(), bytes.size()), 0);
}

TEST(RawF32Test, AnInfinityOnTheWireIsRefused) {
  for (const size_t count : {3, 256, 300}) {
    std::vector<float> values(count, 1.0f);
    values[count / 2] = -std::numeric_limits<float>::infinity();
    std::vector<float> decoded(count);
    const auto* payload = reinterpret_cast<const std::byte*>(values.data());
    EXPECT_FALSE(cpu::RawF32::Decode(payload, decoded));
    EXPECT_FALSE(cpu::RawF32::DecodeAdd(payload, decoded));
  }
}

}  // namespace
}  // namespace skerry::compression
