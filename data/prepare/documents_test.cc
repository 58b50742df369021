#include "data/prepare/documents.h"

#include <optional>
#include <span>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void Write(runtime::Files& files, const std::string& path,
           const std::string& text) {
  ASSERT_TRUE(files
                  .WriteDurably(
                      path, std::as_bytes(std::span(text.data(), text.size())))
                  .ok());
}

TEST(DocumentsTest, JsonLinesAreDocumentsAndFilesAreDocuments) {
  runtime::MemoryFiles files;
  ASSERT_TRUE(files.MakeDirectory("/in").ok());
  Write(files, "/in/a.jsonl", "{\"body\": \"one\"}\n{\"body\": \"two\"}\n");
  Write(files, "/in/b.txt", "x\ny\n");
  Write(files, "/in/c.txt", "");
  const auto documents =
      ReadDocuments({"/in/a.jsonl", "/in/b.txt", "/in/c.txt"}, {.key = "body"},
                    std::nullopt, files);
  ASSERT_TRUE(documents.ok()) << documents.status();
  EXPECT_THAT(documents->texts, ElementsAre("one", "two", "x\ny\n"));
  EXPECT_THAT(
      std::string(ReadDocuments({"/in/a.jsonl"}, {}, std::nullopt, files)
                      .status()
                      .message()),
      HasSubstr("/in/a.jsonl: line 1"));
}

}  // namespace
}  // namespace skerry::data
