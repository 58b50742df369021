#include "cli/commands/documents.h"

#include <span>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
  const auto documents =
      ReadDocuments({"/in/a.jsonl", "/in/b.txt"}, "body", "!", files);
  ASSERT_TRUE(documents.ok()) << documents.status();
  ASSERT_EQ(documents->size(), 3u);
  EXPECT_EQ((*documents)[0].text, "one!");
  EXPECT_FALSE((*documents)[1].may_be_cut);
  EXPECT_EQ((*documents)[2].text, "x\ny\n");
  EXPECT_TRUE((*documents)[2].may_be_cut);
  EXPECT_THAT(
      std::string(
          ReadDocuments({"/in/a.jsonl"}, "text", "", files).status().message()),
      HasSubstr("/in/a.jsonl: line 1"));
}

TEST(DocumentsTest, ValidationBeginsAtALine) {
  const std::vector<Document> documents = {{"aaa\nbbb\n", true},
                                           {"ccc\nddd\n", true}};
  const DocumentSplits splits = SplitDocuments(documents, 0.4);
  EXPECT_THAT(splits.training, ElementsAre("aaa\nbbb\n", "ccc\n"));
  EXPECT_THAT(splits.validation, ElementsAre("ddd\n"));
}

TEST(DocumentsTest, WholeDocumentsStayWhole) {
  const std::vector<Document> documents = {
      {"aaaa", false}, {"b\nbb", false}, {"cccc", false}};
  DocumentSplits splits = SplitDocuments(documents, 0.5);
  EXPECT_THAT(splits.training, ElementsAre("aaaa", "b\nbb"));
  EXPECT_THAT(splits.validation, ElementsAre("cccc"));
  // Otherwise nothing would be left.
  splits = SplitDocuments(documents, 0.1);
  EXPECT_THAT(splits.validation, ElementsAre("cccc"));
}

TEST(DocumentsTest, ALineTooLongIsCutWhereTheFractionSays) {
  const std::vector<Document> documents = {{std::string(100, 'x'), true}};
  const DocumentSplits splits = SplitDocuments(documents, 0.1);
  ASSERT_EQ(splits.validation.size(), 1u);
  EXPECT_EQ(splits.validation[0].size(), 10u);
}

TEST(DocumentsTest, NothingValidatesWhenNothingIsWanted) {
  EXPECT_THAT(SplitDocuments({{"a\nb", true}}, 0).validation, IsEmpty());
}

}  // namespace
}  // namespace skerry::cli
