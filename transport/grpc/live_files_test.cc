#include "transport/grpc/live_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::transport {
namespace {

using testing::HasSubstr;

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int64_t ModifiedS(const std::string& path) {
  struct stat about;
  EXPECT_EQ(stat(path.c_str(), &about), 0);
  return about.st_mtim.tv_sec;
}

TEST(LiveFilesTest, NewContentComesUnderTheSamePathsWithANewTime) {
  auto files = LiveFiles::Make("ca one", "chain one", "key one");
  ASSERT_TRUE(files.ok()) << files.status();
  const std::string pair = (*files)->pair_path();
  const std::string ca = (*files)->ca_path();
  EXPECT_EQ(TextOf(ca), "ca one");
  EXPECT_EQ(TextOf(pair), "key one\nchain one");
  for (const std::string& path : {pair, ca}) {
    // A program that this one starts must not find the key.
    const int file = std::stoi(path.substr(path.rfind('/') + 1));
    EXPECT_TRUE(fcntl(file, F_GETFD) & FD_CLOEXEC);
  }
  const int64_t before = ModifiedS(pair);
  ASSERT_TRUE((*files)->Replace("ca two", "chain two", "key two").ok());
  EXPECT_EQ((*files)->pair_path(), pair);
  EXPECT_EQ(TextOf(ca), "ca two");
  EXPECT_THAT(TextOf(pair), HasSubstr("chain two"));
  EXPECT_GT(ModifiedS(pair), before);
}

}  // namespace
}  // namespace skerry::transport
