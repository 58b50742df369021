// Measures bytes and error of every codec on values of several kinds, among
// them a recorded pseudo-gradient (bench/micro/record_pseudo_gradient.cc), and
// prints the table of docs/measurements/codec_error.md.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "compression/codec.h"
#include "compression/testing/draws.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

constexpr uint64_t kSeed = 31;
constexpr size_t kCount = size_t{1} << 18;
// 16 pieces of 4096 values, from all parts of a model.
constexpr size_t kRecorded = 16 * 4096;
constexpr const char* kRecording = "compression/testing/pseudo_gradient.f32";

std::vector<float> Of(size_t distribution) {
  return Drawn(kCount, kSeed, kDistributions[distribution].draw);
}

std::vector<float> Recorded() {
  std::ifstream in(kRecording, std::ios::binary);
  std::vector<float> values(kRecorded);
  in.read(reinterpret_cast<char*>(values.data()),
          static_cast<std::streamsize>(values.size() * sizeof(float)));
  EXPECT_TRUE(in.good()) << kRecording;
  EXPECT_EQ(in.peek(), std::ifstream::traits_type::eof());
  return values;
}

struct Quality {
  double ratio = 0.0;  // fp32 bytes over payload bytes
  double error = 0.0;  // relative root mean square
};

Quality QualityOf(const Codec& codec, const std::vector<float>& values) {
  std::vector<std::byte> payload;
  EXPECT_TRUE(codec.Encode(values, payload).ok());
  std::vector<float> decoded(values.size());
  EXPECT_TRUE(codec.Decode(payload, decoded).ok());
  double error = 0.0;
  double size = 0.0;
  for (size_t i = 0; i < values.size(); ++i) {
    error += std::pow(static_cast<double>(values[i]) - decoded[i], 2);
    size += std::pow(static_cast<double>(values[i]), 2);
  }
  return {static_cast<double>(values.size() * sizeof(float)) /
              static_cast<double>(payload.size()),
          std::sqrt(error / size)};
}

Quality QualityOf(CodecId id, const std::vector<float>& values) {
  return QualityOf(**FindCodec(id), values);
}

TEST(QualityTest, EightAndFourBitsKeepTheirPromiseOnARecordedPseudoGradient) {
  const std::vector<float> recorded = Recorded();
  const Quality int8 = QualityOf(CodecId::kInt8Block, recorded);
  EXPECT_GE(int8.ratio, 3.7);
  EXPECT_LE(int8.error, 0.01);
  const Quality nf4 = QualityOf(CodecId::kNf4, recorded);
  EXPECT_GE(nf4.ratio, 7.1);
  EXPECT_LE(nf4.error, 0.10);
}

TEST(QualityTest, ErrorsAreBoundedAndTheSparserOfAFamilyLosesMore) {
  const struct {
    const char* name;
    std::vector<float> values;
  } inputs[] = {{"normal", Of(0)},
                {"laplace", Of(1)},
                {"t3", Of(2)},
                {"recorded", Recorded()}};
  std::printf("%-22s", "codec");
  for (const auto& input : inputs) std::printf(" %16s", input.name);
  std::printf("\n");
  for (int number = 0; number < 256; ++number) {
    const auto id = static_cast<CodecId>(number);
    if (!FindCodec(id).ok()) continue;
    std::printf("%-22s", std::string(CodecName(id)).c_str());
    for (const auto& input : inputs) {
      const Quality quality = QualityOf(id, input.values);
      std::printf("  %6.1fx %7.4f", quality.ratio, quality.error);
      EXPECT_LT(quality.error, std::sqrt(2.0))
          << CodecName(id) << " " << input.name;
      // The next of a family sends half as many.
      const auto sparser = static_cast<CodecId>(number + 1);
      if (!IsSparse(id) || !FindCodec(sparser).ok()) continue;
      EXPECT_LT(quality.error, QualityOf(sparser, input.values).error + 0.02)
          << CodecName(id) << " " << input.name;
    }
    std::printf("\n");
  }
}

}  // namespace
}  // namespace skerry::compression
