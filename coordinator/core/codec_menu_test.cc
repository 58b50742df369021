#include "coordinator/core/codec_menu.h"

#include <cmath>
#include <vector>

#include "base/random.h"
#include "compression/codec.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

TEST(CodecMenuTest, BytesAndErrorsAreThoseOfTheCodecs) {
  Random random(3);
  std::vector<float> values(1 << 18);
  for (float& value : values) {
    const double u = random.Uniform() - 0.5;
    value = static_cast<float>((u < 0 ? 1 : -1) *
                               std::log(1 - 2 * std::fabs(u) + 1e-12));
  }
  std::vector<float> decoded(values.size());
  std::vector<std::byte> payload;
  bool has_unmeasured = false;
  for (const planner::CodecOption& option : CodecMenu()) {
    SCOPED_TRACE(option.name);
    const auto id = compression::ParseCodecName(option.name);
    ASSERT_TRUE(id.ok()) << id.status();
    const compression::Codec& codec = **compression::FindCodec(*id);
    ASSERT_TRUE(codec.Encode(values, payload).ok());
    ASSERT_TRUE(codec.Decode(payload, decoded).ok());
    double error = 0;
    double norm = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      error += std::pow(static_cast<double>(values[i]) - decoded[i], 2.0);
      norm += std::pow(static_cast<double>(values[i]), 2.0);
    }
    EXPECT_NEAR(std::sqrt(error / norm) / option.relative_rms, 1.0, 0.03);
    EXPECT_NEAR(static_cast<double>(payload.size()) /
                    static_cast<double>(values.size()) /
                    option.cost.bytes_per_element,
                1.0, 0.02);
    EXPECT_EQ(option.loss == planner::CodecLoss::kSparse,
              compression::IsSparse(*id));
    has_unmeasured |= option.name == kUnmeasuredCodec;
  }
  EXPECT_TRUE(has_unmeasured);
}

}  // namespace
}  // namespace skerry::coordinator
