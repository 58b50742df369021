#include "identity/operator_bundle.h"

#include "gtest/gtest.h"

namespace skerry::identity {
namespace {

TEST(OperatorBundleTest, IsWrittenAsBlocks) {
  EXPECT_EQ(FormatBundle({.address = "[::1]:7443",
                          .authorities = "A\nB\n",
                          .chain = "C\n",
                          .key = "D"},
                         "admin eve of lab"),
            "# admin eve of lab. Keep this file secret.\n"
            "# Take it into use with: skerryctl config import FILE\n"
            "address: \"[::1]:7443\"\n"
            "ca: |\n  A\n  B\n"
            "certificate: |\n  C\n"
            "key: |\n  D\n");
}

}  // namespace
}  // namespace skerry::identity
