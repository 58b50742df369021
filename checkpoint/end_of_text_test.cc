#include "checkpoint/end_of_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::checkpoint {
namespace {

using ::testing::ElementsAre;

TEST(EndOfTextTest, OneNumberOrAListIsRead) {
  EXPECT_THAT(EndOfTextTokens(R"({"eos_token_id": 50256})"),
              ElementsAre(50256));
  EXPECT_THAT(EndOfTextTokens(R"({"eos_token_id": [128001, 128009]})"),
              ElementsAre(128001, 128009));
}

TEST(EndOfTextTest, WhatIsNoTokenIsLeftOut) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"eos_token_id": null})",
        R"({"eos_token_id": -1})", R"({"eos_token_id": 4294967296})",
        R"({"eos_token_id": "</s>"})", R"({"eos_token_id": {}})",
        R"({"eos_token_id": []})", "\xff"}) {
    EXPECT_THAT(EndOfTextTokens(text), ElementsAre()) << text;
  }
  EXPECT_THAT(EndOfTextTokens(R"({"eos_token_id": [7, null, "a", 9.5, 8]})"),
              ElementsAre(7, 8));
}

}  // namespace
}  // namespace skerry::checkpoint
