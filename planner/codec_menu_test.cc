// The menu against what the codecs do to a recorded pseudo-gradient
// (bench/micro/record_pseudo_gradient.cc).
#include "planner/codec_menu.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "compression/codec.h"
#include "gtest/gtest.h"
#include "planner/codec_choice.h"
#include "planner/codec_loss.h"

namespace skerry::planner {
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
size_t Send(compression::CodecId id, std::span<const float> values,
            std::vector<float>& arrived) {
  const compression::Codec& used = **compression::FindCodec(id);
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
    const CodecOption& option = CodecMenu()[codec];
    SCOPED_TRACE(option.name);
    const auto id = compression::ParseCodecName(option.name);
    ASSERT_TRUE(id.ok()) << id.status();
    const size_t bytes = Send(*id, values, error);
    for (size_t i = 0; i < values.size(); ++i) error[i] -= values[i];
    EXPECT_NEAR(
        std::sqrt(Squares(error) / Squares(values)) / option.relative_rms, 1.0,
        0.01);
    EXPECT_NEAR(static_cast<double>(bytes) /
                    static_cast<double>(values.size()) /
                    option.cost.bytes_per_element,
                1.0, 0.01);
    EXPECT_EQ(option.loss == CodecLoss::kSparse, compression::IsSparse(*id));
    has_unmeasured |= option.name == kUnmeasuredCodec;
  }
  EXPECT_TRUE(has_unmeasured);
}

// A codec that a job can name, and what it does to the recording.
struct Fixed {
  std::string name;
  double bytes = 0.0;  // a value
  double error = 0.0;
};

// All that error feedback without momentum stands. Without threshold_top_k, how
// much of which is sent is an estimate, and without lloyd2, which a worker of
// the release before does not have.
std::vector<Fixed> FixedCodecs() {
  constexpr int kNumbers = 128;
  const std::vector<float> values = Recorded();
  std::vector<Fixed> all;
  for (int number = 0; number < kNumbers; ++number) {
    const auto id = static_cast<compression::CodecId>(number);
    if (!compression::FindCodec(id).ok() ||
        FindDivergence(LossOf(id), /*beta=*/1.0,
                       /*momentum=*/0.0)) {
      continue;
    }
    const std::string name(compression::CodecName(id));
    if (name.starts_with("threshold_top_k") || name == "lloyd2") continue;
    std::vector<float> error;
    const size_t bytes = Send(id, values, error);
    for (size_t i = 0; i < values.size(); ++i) error[i] -= values[i];
    all.push_back(
        {name, static_cast<double>(bytes) / static_cast<double>(values.size()),
         std::sqrt(Squares(error) / Squares(values))});
  }
  return all;
}

// What each of two members sends a value where links are so slow that bytes
// alone count, over the bytes of the best fixed codec under the same cap; the
// worst of all caps that some codec just meets.
double WorstOverTheBestFixed(const std::vector<CodecOption>& options) {
  // The menu's numbers are rounded.
  constexpr double kRounded = 2e-4;
  const std::vector<Fixed> all = FixedCodecs();
  CodecProblem problem;
  problem.options = options;
  problem.handling = {.beta = 1.0, .momentum = 0.0};
  for (const uint64_t replica : {1, 2}) {
    ExchangeMember member;
    member.replica = ReplicaId(replica);
    member.link.up_bytes_per_s = member.link.down_bytes_per_s = 1.0;
    member.owned_elements = 1 << 19;
    problem.shape.elements += member.owned_elements;
    problem.shape.members.push_back(member);
  }
  double worst = 0.0;
  for (const Fixed& just : all) {
    problem.handling.error_max = just.error + kRounded;
    const auto choice = ChooseCodecs(problem);
    if (!choice.ok()) continue;  // a job with such a cap is refused
    double best = std::numeric_limits<double>::infinity();
    for (const Fixed& one : all) {
      if (one.error <= problem.handling.error_max) {
        best = std::min(best, one.bytes);
      }
    }
    for (const uint32_t codec : choice->codec) {
      const double over = options[codec].cost.bytes_per_element / best;
      std::printf("error_max %.4f: %s, %.3f of the best fixed codec\n",
                  problem.handling.error_max, options[codec].name.c_str(),
                  over);
      worst = std::max(worst, over);
    }
  }
  return worst;
}

TEST(CodecMenuTest, UnderAnyCapAdaptiveSendsATenthMoreThanTheBestFixedAtMost) {
  EXPECT_LE(WorstOverTheBestFixed(CodecMenu()), 1.1);
  std::vector<CodecOption> without;
  for (const CodecOption& option : CodecMenu()) {
    if (!option.name.starts_with("chunk_")) without.push_back(option);
  }
  ASSERT_LT(without.size(), CodecMenu().size());
  EXPECT_GT(WorstOverTheBestFixed(without), 1.5);
}

}  // namespace
}  // namespace skerry::planner
