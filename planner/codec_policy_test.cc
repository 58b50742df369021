#include "planner/codec_policy.h"

#include "gtest/gtest.h"

namespace skerry::planner {
namespace {

TEST(CodecPolicyTest, NamesOfPoliciesAreKnownAndNoOthers) {
  EXPECT_TRUE(IsCodecPolicy("adaptive"));
  EXPECT_EQ(AdaTopKRatio("adaptive"), std::nullopt);
  EXPECT_EQ(AdaTopKRatio("ada_top_k/4"), 4.0);
  EXPECT_EQ(AdaTopKRatio("ada_top_k/256"), 256.0);
  for (const char* name :
       {"", "ada_top_k", "ada_top_k/", "ada_top_k/5", "ada_top_k/512",
        "ada_top_k/+8", "ada_top_k/08", "top_k/8", "Adaptive", "int8_block"}) {
    EXPECT_FALSE(IsCodecPolicy(name)) << name;
  }
}

}  // namespace
}  // namespace skerry::planner
