#include "cli/home_path.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

TEST(HomePathTest, ATildeIsTheHomeFolder) {
  setenv("HOME", "/home/ann", 1);
  EXPECT_EQ(HomePath("~/data/text").value(), "/home/ann/data/text");
  EXPECT_EQ(HomePath("~").value(), "/home/ann");
  for (const char* path : {"", "data", "/data", "a/~/b", "./~"}) {
    EXPECT_EQ(HomePath(path).value(), path);
  }
}

TEST(HomePathTest, AFolderThatIsNotKnownIsRefused) {
  setenv("HOME", "/home/ann", 1);
  EXPECT_EQ(HomePath("~bob/text").status().message(),
            "is ~bob/text, whose home folder is not known; write it in full");
  unsetenv("HOME");
  EXPECT_EQ(HomePath("~/text").status().message(),
            "is ~/text, whose home folder is not known; write it in full");
}

}  // namespace
}  // namespace skerry::cli
