#include "runtime/posix/mapped_file.h"

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

std::string Write(const char* name, const std::string& content) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(MappedFileTest, BytesStayWhenTheNameIsRemoved) {
  const std::string path = Write("removed", "skerry");
  auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  std::remove(path.c_str());
  const auto bytes = (*file)->bytes();
  EXPECT_EQ(
      std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
      "skerry");
}

TEST(MappedFileTest, EmptyFileHasNoBytes) {
  auto file = MappedFile::Open(Write("empty", ""));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE((*file)->bytes().empty());
}

TEST(MappedFileTest, AnyOfItsBytesMayBeSaidToBeReadSoon) {
  const std::string content(20000, 's');
  const auto file = MappedFile::Open(Write("pages", content)).value();
  const std::span<const std::byte> bytes = file->bytes();
  MappedFile::WillRead(bytes);
  MappedFile::WillRead(bytes.subspan(1, 7000));
  MappedFile::WillRead(bytes.last(1));
  MappedFile::WillRead({});
  EXPECT_EQ(
      std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
      content);
}

TEST(MappedFileTest, MissingFileIsNamed) {
  const absl::Status status = MappedFile::Open("/nowhere/missing").status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_NE(status.message().find("/nowhere/missing"), std::string::npos);
}

}  // namespace
}  // namespace skerry::runtime
