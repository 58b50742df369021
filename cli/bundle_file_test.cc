#include "cli/bundle_file.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string WhyNot(const std::string& text) {
  const auto parsed = ParseBundle("b.yaml", text);
  EXPECT_TRUE(absl::IsInvalidArgument(parsed.status())) << text;
  const std::string line(parsed.status().message());
  EXPECT_THAT(line, Not(HasSubstr("canary")));
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  return line;
}

TEST(BundleFileTest, IsReadAsItIsWritten) {
  const identity::OperatorBundle bundle{.address = "[::1]:7443",
                                        .authorities = "A\nB\n",
                                        .chain = "C\n",
                                        .key = "D\n"};
  const auto read =
      ParseBundle("b.yaml", identity::FormatBundle(bundle, "admin eve"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->address, bundle.address);
  EXPECT_EQ(read->authorities, bundle.authorities);
  EXPECT_EQ(read->chain, bundle.chain);
  EXPECT_EQ(read->key, bundle.key);
}

TEST(BundleFileTest, FaultsHaveLineAndColumn) {
  EXPECT_THAT(WhyNot("address: a\nca: b\ncertificate: c\nkeys: canary\n"),
              StartsWith("b.yaml:4:1: there is no field keys"));
  EXPECT_THAT(WhyNot("address: a\nca: b\ncertificate: c\n"),
              StartsWith("b.yaml:1:1: field key has to be a word"));
  EXPECT_THAT(WhyNot("address: a\nca: [canary]\ncertificate: c\nkey: d\n"),
              HasSubstr("field ca has to be a word"));
  EXPECT_THAT(WhyNot("- canary\n"), HasSubstr("has to be a mapping"));
  EXPECT_THAT(WhyNot("address: a\n\tkey: canary\n"), StartsWith("b.yaml:2:"));
  EXPECT_THAT(WhyNot(""), HasSubstr("has to be a mapping"));
  EXPECT_THAT(WhyNot(std::string(1 << 20, ' ')), HasSubstr("more than"));
}

}  // namespace
}  // namespace skerry::cli
