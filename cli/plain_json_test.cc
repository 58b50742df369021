#include "cli/plain_json.h"

#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

std::string Read(const std::string& text, const std::string& tag = "?") {
  const auto value = PlainJson(text, tag);
  return value.ok() ? value->dump() : std::string(value.status().message());
}

TEST(PlainJsonTest, ANumberStaysTheNumberThatItIs) {
  EXPECT_EQ(Read("64"), "64");
  EXPECT_EQ(Read("-3"), "-3");
  EXPECT_EQ(Read("0"), "0");
  EXPECT_EQ(Read("1_000_000"), "1000000");
  EXPECT_EQ(Read("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Read("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(Read("0.1"), "0.1");
  EXPECT_EQ(Read("1e3"), "1000.0");
  EXPECT_EQ(Read("-2.5e-4"), "-0.00025");
  EXPECT_EQ(Read(".5"), "0.5");
  EXPECT_EQ(Read("8.0"), "8.0");
}

TEST(PlainJsonTest, AWordIsTextUnlessItMeansSomethingToYaml) {
  EXPECT_EQ(Read("adam"), "\"adam\"");
  EXPECT_EQ(Read("yes"), "\"yes\"");
  EXPECT_EQ(Read("1.2.3"), "\"1.2.3\"");
  EXPECT_EQ(Read("2026-10-01"), "\"2026-10-01\"");
  EXPECT_EQ(Read("e5"), "\"e5\"");
  EXPECT_EQ(Read("-"), "\"-\"");
  EXPECT_EQ(Read("inf"), "\"inf\"");
  EXPECT_EQ(Read("64x"), "\"64x\"");
  EXPECT_EQ(Read("0xyz"), "\"0xyz\"");
  EXPECT_EQ(Read("true"), "true");
  EXPECT_EQ(Read("False"), "false");
  EXPECT_EQ(Read("~"), "null");
}

TEST(PlainJsonTest, QuotesMakeText) {
  EXPECT_EQ(Read("64", "!"), "\"64\"");
  EXPECT_EQ(Read("true", "!"), "\"true\"");
  EXPECT_EQ(Read("64", "tag:yaml.org,2002:str"), "\"64\"");
}

TEST(PlainJsonTest, WhatReadersUnderstandDifferentlyIsRefused) {
  EXPECT_EQ(Read("010"),
            "has to be a whole number, not 010; some readers take a leading "
            "zero for octal: write 10, or 8 if octal is meant; put it in "
            "quotes if it is text");
  EXPECT_EQ(Read("0x10"),
            "is 0x10; write the number in decimal; put it in quotes if it is "
            "text");
  EXPECT_EQ(Read(".nan"),
            "is .nan, which JSON does not have; put it in quotes if it is "
            "text");
  EXPECT_EQ(Read("1e999"),
            "is 1e999, more than a double holds; put it in quotes if it is "
            "text");
  EXPECT_EQ(Read("18446744073709551616"),
            "is 18446744073709551616, more than 64 bits hold; put it in quotes "
            "if it is text");
  EXPECT_EQ(Read("x", "!python/object"),
            "has the tag !python/object; leave the tag out");
}

}  // namespace
}  // namespace skerry::cli
