#include "runtime/posix/read_range.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

std::string Read(const std::string& path, uint64_t offset, size_t most) {
  const auto bytes = ReadRange(path, offset, most);
  if (!bytes.ok()) return std::string(bytes.status().message());
  return std::string(reinterpret_cast<const char*>(bytes->data()),
                     bytes->size());
}

TEST(ReadRangeTest, GivesThePartAndStopsAtTheEnd) {
  const std::string path = testing::TempDir() + "/read_range_test";
  std::ofstream(path) << "0123456789";
  EXPECT_EQ(Read(path, 0, 4), "0123");
  EXPECT_EQ(Read(path, 4, 4), "4567");
  EXPECT_EQ(Read(path, 8, 4), "89");
  EXPECT_EQ(Read(path, 10, 4), "");
  EXPECT_EQ(Read(path, 1000, 4), "");
  std::filesystem::remove(path);
  EXPECT_TRUE(absl::IsNotFound(ReadRange(path, 0, 4).status()));
  EXPECT_NE(Read(path, 0, 4).find(path), std::string::npos);
  EXPECT_FALSE(ReadRange(testing::TempDir(), 0, 4).ok());
}

}  // namespace
}  // namespace skerry::runtime
