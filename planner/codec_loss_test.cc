#include "planner/codec_loss.h"

#include <string>

#include "compression/codec.h"
#include "gtest/gtest.h"

namespace skerry::planner {
namespace {

CodecLoss LossOfName(const char* name) {
  const auto id = compression::ParseCodecName(name);
  EXPECT_TRUE(id.ok()) << id.status();
  return LossOf(*id);
}

std::string Field(const char* codec, double beta, double momentum) {
  const auto found = FindDivergence(LossOfName(codec), beta, momentum);
  return found ? std::string(found->field) : "";
}

TEST(CodecLossTest, CodecsLoseAsTheirBitsSay) {
  for (const char* name : {"raw_f32", "bf16", "fp16", "int8_block", "nf4",
                           "nf4_f32", "e3m0", "e3m0_f32", "lloyd2"}) {
    EXPECT_EQ(LossOfName(name), CodecLoss::kRounding) << name;
  }
  EXPECT_EQ(LossOfName("sign1"), CodecLoss::kOneBit);
  EXPECT_EQ(LossOfName("sign1_whole"), CodecLoss::kOneBitWhole);
  for (const char* name :
       {"top_k/4", "chunk_top_k/64", "threshold_top_k/256"}) {
    EXPECT_EQ(LossOfName(name), CodecLoss::kSparse) << name;
  }
}

TEST(CodecLossTest, WhatDivergesIsFoundAndNothingElse) {
  for (const double beta : {0.0, 0.5, 1.0}) {
    for (const double momentum : {0.0, 0.1, 0.9}) {
      SCOPED_TRACE(testing::Message() << beta << " " << momentum);
      EXPECT_EQ(Field("int8_block", beta, momentum), "");
      EXPECT_EQ(Field("nf4", beta, momentum), "");
      EXPECT_EQ(Field("sign1", beta, momentum), beta > 0 ? "" : "outer.beta");
      EXPECT_EQ(Field("sign1_whole", beta, momentum), "exchange.codec");
      EXPECT_EQ(Field("top_k/64", beta, momentum), beta == 0 ? "outer.beta"
                                                   : momentum > 0
                                                       ? "outer.momentum"
                                                       : "");
    }
  }
}

}  // namespace
}  // namespace skerry::planner
