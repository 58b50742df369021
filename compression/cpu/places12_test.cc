#include "compression/cpu/places12.h"

#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace skerry::compression::cpu {
namespace {

TEST(Places12Test, EverySimdTargetWritesTwelveBitsOfEachAndNothingBehind) {
  Random random(5);
  const int64_t supported = hwy::SupportedTargets();
  for (int64_t rest = supported; rest != 0; rest &= rest - 1) {
    SCOPED_TRACE(hwy::TargetName(rest & -rest));
    hwy::SetSupportedTargetsForTest(rest & -rest);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
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
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace
}  // namespace skerry::compression::cpu
