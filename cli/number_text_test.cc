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
}

TEST(NumberTextTest, WhatIsNoWholeNumberIsRefused) {
  for (const char* text :
       {"", "-", "x", "1.5", "1e-3", "_1", "1_", "1__0", "1e", "e6", "1e999",
        "1e99999999999", "--1", "1,000", ".inf", "0x", "k", "1.e"}) {
    EXPECT_EQ(Read(text), "refused") << text;
  }
}

}  // namespace
}  // namespace skerry::cli
