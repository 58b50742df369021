#include "compression/chunk_top_k/cpu/places12.h"

#include <vector>

#include "base/random.h"
#include "compression/testing/every_simd_target.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

TEST(Places12Test, EverySimdTargetWritesTwelveBitsOfEachAndNothingBehind) {
  Random random(5);
  OnEverySimdTarget([&] {
    for (size_t count = 0; count < 150; ++count) {
      std::vector<uint32_t> places(count);
      std::vector<bool> bits;
      for (uint32_t& place : places) {
        place = static_cast<uint32_t>(random.Below(4096));
        for (int bit = 0; bit < 12; ++bit) bits.push_back(place >> bit & 1);
      }
      std::vector<std::byte> expected((bits.size() + 7) / 8);
      for (size_t i = 0; i < bits.size(); ++i) {
        if (bits[i]) expected[i / 8] |= std::byte{1} << (i % 8);
      }
      std::vector<std::byte> packed(expected.size() + 1, std::byte{0xaa});
      PackPlaces(places, packed.data());
      expected.push_back(std::byte{0xaa});
      ASSERT_EQ(packed, expected) << count;
    }
  });
}

std::vector<std::byte> Packed(const std::vector<uint32_t>& places) {
  std::vector<std::byte> packed((places.size() * 12 + 7) / 8);
  PackPlaces(places, packed.data());
  return packed;
}

TEST(Places12Test, EverySimdTargetReadsWhatAscends) {
  Random random(6);
  OnEverySimdTarget([&] {
    for (size_t count = 1; count < 150; ++count) {
      std::vector<uint32_t> places(count);
      uint32_t next = 4095 - 27 * static_cast<uint32_t>(count);
      for (uint32_t& place : places) {
        place = next + static_cast<uint32_t>(random.Below(27));
        next = place + 1;
      }
      places.back() = 4095;
      const std::vector<std::byte> packed = Packed(places);
      std::vector<uint16_t> read(count);
      ASSERT_TRUE(UnpackPlaces(packed.data(), read)) << count;
      ASSERT_EQ(std::vector<uint32_t>(read.begin(), read.end()), places);
    }
  });
}

TEST(Places12Test, EverySimdTargetRefusesWhatDoesNotAscend) {
  OnEverySimdTarget([] {
    for (const size_t count : {2, 3, 8, 33, 100}) {
      std::vector<uint32_t> places(count);
      for (size_t i = 0; i < count; ++i) {
        places[i] = static_cast<uint32_t>(40 * i);
      }
      std::vector<uint16_t> read(count);
      ASSERT_TRUE(UnpackPlaces(Packed(places).data(), read)) << count;
      for (size_t i = 1; i < count; ++i) {
        std::vector<uint32_t> broken = places;
        broken[i] = places[i - 1];
        ASSERT_FALSE(UnpackPlaces(Packed(broken).data(), read)) << i;
        broken[i] = 0;
        ASSERT_FALSE(UnpackPlaces(Packed(broken).data(), read)) << i;
      }
    }
  });
}

TEST(Places12Test, BitsBehindTheLastPlaceAreRefused) {
  std::vector<std::byte> packed = Packed({1, 2, 3});
  std::vector<uint16_t> read(3);
  packed.back() |= std::byte{0x10};
  EXPECT_FALSE(UnpackPlaces(packed.data(), read));
}

}  // namespace
}  // namespace skerry::compression::cpu
