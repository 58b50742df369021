#include "cli/number_text.h"

#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

std::string Read(std::string_view text) {
  const auto number = WholeNumberText(text);
  return number.ok() ? *number
                     : "refused" + std::string(number.status().message());
}

TEST(NumberTextTest, WholeNumbersAreTakenInEveryClearForm) {
  EXPECT_EQ(Read("12"), "12");
  EXPECT_EQ(Read("+12"), "12");
  EXPECT_EQ(Read("-12"), "-12");
  EXPECT_EQ(Read("0"), "0");
  EXPECT_EQ(Read("-0"), "0");
  EXPECT_EQ(Read("1e6"), "1000000");
  EXPECT_EQ(Read("1E+6"), "1000000");
  EXPECT_EQ(Read("1.5e3"), "1500");
  EXPECT_EQ(Read("8.0"), "8");
  EXPECT_EQ(Read("9600e-2"), "96");
  EXPECT_EQ(Read("1_000"), "1000");
  EXPECT_EQ(Read("1_000_000"), "1000000");
  EXPECT_EQ(Read("18446744073709551615"), "18446744073709551615");
}

TEST(NumberTextTest, WhatHasTwoMeaningsIsRefusedWithBoth) {
  EXPECT_EQ(Read("010"),
            "refused; some readers take a leading zero for octal: write 10, or "
            "8 if octal is meant");
  EXPECT_EQ(Read("089"), "refused; write 89 without a leading zero");
  EXPECT_EQ(Read("2k"), "refused; write the number out: 2000, or 2048");
  EXPECT_EQ(Read("1M"), "refused; write the number out: 1000000, or 1048576");
  EXPECT_EQ(Read("0x10"), "refused; write it in decimal: 16");
  EXPECT_EQ(Read("0X1f"), "refused; write it in decimal: 31");
  EXPECT_EQ(Read("0o17"), "refused; write it in decimal: 15");
  EXPECT_EQ(Read("0b101"), "refused; write it in decimal: 5");
  EXPECT_EQ(Read("1e30"), "refused; no field takes that much");
  EXPECT_EQ(Read("9,600"), "refused; write it without commas: 9600");
  EXPECT_EQ(Read("1,000,000"), "refused; write it without commas: 1000000");
}

TEST(NumberTextTest, WhatIsNoWholeNumberIsRefused) {
  for (const char* text : {"",
                           "-",
                           "x",
                           "1.5",
                           "1e-3",
                           "_1",
                           "1_",
                           "1__0",
                           "1e",
                           "e6",
                           "1e99999999999",
                           "--1",
                           ".inf",
                           "0x",
                           "0o8",
                           "0b2",
                           "k",
                           "1.e",
                           "1,00",
                           ",000",
                           "1,0000",
                           "1000,000",
                           "1,000,",
                           "1,000,00",
                           "1,a00"}) {
    EXPECT_EQ(Read(text), "refused") << text;
  }
}

}  // namespace
}  // namespace skerry::cli
