#include "base/bounded_number.h"

#include <cmath>
#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry {
namespace {

TEST(BoundedNumberTest, NumbersWithinBoundsAreRead) {
  EXPECT_EQ(*ReadNumber<int>("1", {1, 64}), 1);
  EXPECT_EQ(*ReadNumber<int>("64", {1, 64}), 64);
  EXPECT_EQ(*ReadNumber<int>("010", {1, 64}), 10);
  EXPECT_EQ(*ReadNumber<int>("-3", {-3, 3}), -3);
  EXPECT_EQ(*ReadNumber<uint64_t>("18446744073709551615", {}), UINT64_MAX);
  EXPECT_EQ(*ReadNumber<double>("0.05", {0, 1}), 0.05);
  EXPECT_EQ(*ReadNumber<double>("1e-3", {0, 1}), 1e-3);
}

TEST(BoundedNumberTest, NoNumberWrapsAround) {
  for (const char* text :
       {"-1", "-18446744073709551615", "18446744073709551616",
        "340282366920938463463374607431768211456"}) {
    EXPECT_FALSE(ReadNumber<uint64_t>(text, {}).ok()) << text;
    EXPECT_FALSE(ReadNumber<uint32_t>(text, {}).ok()) << text;
  }
  EXPECT_FALSE(ReadNumber<uint32_t>("4294967296", {}).ok());
  EXPECT_FALSE(ReadNumber<int>("99999", {0, 65535}).ok());
}

TEST(BoundedNumberTest, WhatIsNoNumberIsRefused) {
  for (const char* text : {"", " 1", "1 ", "+1", "0x10", "1e3", "1_000",
                           "1,000", "1.0", "one", "--1"}) {
    EXPECT_FALSE(ReadNumber<int>(text, {}).ok()) << text;
  }
  for (const char* text : {"", "nan", "inf", "-inf", "1e300", "0,5", "1.5x"}) {
    EXPECT_FALSE(ReadNumber<double>(text, {-1e9, 1e9}).ok()) << text;
  }
}

TEST(BoundedNumberTest, TheMessageNamesBothBoundsAndTheText) {
  EXPECT_EQ(ReadNumber<int>("-3", {1, 64}).status().message(),
            "has to be a whole number from 1 to 64, not \"-3\"");
  EXPECT_EQ(ReadNumber<double>("a\tb", {0, 0.5}).status().message(),
            "has to be a number from 0 to 0.5, not \"a\\tb\"");
}

TEST(BoundedNumberTest, ALongTextIsCut) {
  EXPECT_THAT(QuotedForMessage(std::string(1000, 'x')),
              testing::EndsWith("xxx...\""));
}

}  // namespace
}  // namespace skerry
