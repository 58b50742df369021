#include "base/file_name.h"

#include <string>

#include "gtest/gtest.h"

namespace skerry {
namespace {

TEST(FileNameTest, APlainNameLeadsNowhereElse) {
  for (const char* name : {"model.safetensors", "train_0.bin", "a~$=b"}) {
    EXPECT_TRUE(IsPlainFileName(name)) << name;
  }
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "/a", "a\\b", "a b",
                           "a\nb", "\x7f", "\xc3\xa4"}) {
    EXPECT_FALSE(IsPlainFileName(name)) << name;
  }
  EXPECT_TRUE(IsPlainFileName(std::string(255, 'a')));
  EXPECT_FALSE(IsPlainFileName(std::string(256, 'a')));
}

}  // namespace
}  // namespace skerry
