// The menu against what the codecs do to a recorded pseudo-gradient
// (bench/micro/record_pseudo_gradient.cc).
#include "coordinator/core/codec_menu.h"

#include <cmath>
#include <fstream>
#include <span>
#include <vector>

#include "compression/codec.h"
#include "gtest/gtest.h"
#include "planner/codec_choice.h"

namespace skerry::coordinator {
namespace {

// 16 pieces of 4096 values, from all parts of a model.
constexpr size_t kPieces = 16;
constexpr size_t kPiece = 4096;
constexpr size_t kRecorded = kPieces * kPiece;
constexpr const char* kRecording = "compression/testing/pseudo_gradient.f32";

std::vector<float> Recorded() {
  std::ifstream in(kRecording, std::ios::binary);
  std::vector<float> values(kRecorded);
  in.read(reinterpret_cast<char*>(values.data()),
          static_cast<std::streamsize>(values.size() * sizeof(float)));
  EXPECT_TRUE(in.good()) << kRecording;
  return values;
}

// What arrives of `values`; how many bytes that took.
size_t Send(uint32_t codec, std::span<const float> values,
            std::vector<float>& arrived) {
  const auto id = compression::ParseCodecName(CodecMenu()[codec].name);
  const compression::Codec& used = **compression::FindCodec(*id);
  std::vector<std::byte> payload;
  EXPECT_TRUE(used.Encode(values, payload).ok());
  arrived.resize(values.size());
  EXPECT_TRUE(used.Decode(payload, arrived).ok());
  return payload.size();
}

double Squares(std::span<const float> values) {
  double sum = 0.0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return sum;
}

TEST(CodecMenuTest, BytesAndErrorsAreThoseOfTheCodecs) {
  const std::vector<float> values = Recorded();
  std::vector<float> error;
  bool has_unmeasured = false;
  for (uint32_t codec = 0; codec < CodecMenu().size(); ++codec) {
    const planner::CodecOption& option = CodecMenu()[codec];
    SCOPED_TRACE(option.name);
    const auto id = compression::ParseCodecName(option.name);
    ASSERT_TRUE(id.ok()) << id.status();
    const size_t bytes = Send(codec, values, error);
    for (size_t i = 0; i < values.size(); ++i) error[i] -= values[i];
    EXPECT_NEAR(
        std::sqrt(Squares(error) / Squares(values)) / option.relative_rms, 1.0,
        0.01);
    EXPECT_NEAR(static_cast<double>(bytes) /
                    static_cast<double>(values.size()) /
                    option.cost.bytes_per_element,
                1.0, 0.01);
    EXPECT_EQ(option.loss == planner::CodecLoss::kSparse,
              compression::IsSparse(*id));
    has_unmeasured |= option.name == kUnmeasuredCodec;
  }
  EXPECT_TRUE(has_unmeasured);
}

}  // namespace
}  // namespace skerry::coordinator
