#include "data/prepare/input_reader.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "base/sha256.h"
#include "data/prepare/testing/packed_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::data {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class InputReaderTest : public ::testing::Test {
 protected:
  InputReaderTest() {
    EXPECT_TRUE(files_.MakeDirectory("/in").ok());
    for (int i = 0; i < 90'000; ++i) {
      lines_ += "{\"text\": \"" + std::to_string(i) + "\"}\n";
    }
  }
  void Write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(files_
                    .WriteDurably(path, std::as_bytes(std::span(text.data(),
                                                                text.size())))
                    .ok());
  }
  absl::StatusOr<InputReader> Open(
      const std::string& path, std::optional<TextKind> wanted = std::nullopt) {
    return InputReader::Open(path, path, wanted, files_);
  }

  runtime::MemoryFiles files_;
  // More than the head that decides, and than is read at once.
  std::string lines_;
};

TEST_F(InputReaderTest, PackedAndPlainFilesHaveTheSameContent) {
  Write("/in/d.jsonl", lines_);
  Write("/in/d.gz", testing::Gzip(lines_));
  Write("/in/d.zst", testing::Zstd(lines_));
  Write("/in/pipe", testing::Gzip(lines_));
  files_.MakePipe("/in/pipe");
  for (const char* path :
       {"/in/d.jsonl", "/in/d.gz", "/in/d.zst", "/in/pipe"}) {
    InputReader reader = Open(path).value();
    EXPECT_EQ(reader.kind(), TextKind::kJsonLines) << path;
    EXPECT_TRUE(reader.SkipTo(900'000).ok());
    EXPECT_EQ(reader.position(), 900'000u);
    EXPECT_EQ(reader.line(),
              1u + static_cast<uint64_t>(std::count(
                       lines_.begin(), lines_.begin() + 900'000, '\n')));
    EXPECT_TRUE(reader.Fill(100'000).ok());
    EXPECT_EQ(reader.window().substr(0, 100'000),
              std::string_view(lines_).substr(900'000, 100'000));
    EXPECT_EQ(reader.ReadAll().value(),
              std::string_view(lines_).substr(900'000));
    EXPECT_TRUE(reader.at_end());
    EXPECT_EQ(reader.Digest(),
              Sha256Hex(std::as_bytes(std::span(lines_.data(), lines_.size()))))
        << path;
  }
}

TEST_F(InputReaderTest, DamagedAndForeignFilesAreRefusedWithTheirPath) {
  const std::string packed = testing::Gzip(lines_);
  Write("/in/d.gz", packed.substr(0, packed.size() - 3));
  EXPECT_THAT(std::string(Open("/in/d.gz")->ReadAll().status().message()),
              StartsWith("/in/d.gz: is cut off: its gzip data have no end"));
  Write("/in/d.parquet", "PAR1");
  EXPECT_THAT(std::string(Open("/in/d.parquet").status().message()),
              StartsWith("/in/d.parquet: is Parquet"));
  Write("/in/e.gz", testing::Gzip("[{\"text\": 1}]"));
  EXPECT_THAT(std::string(Open("/in/e.gz").status().message()),
              StartsWith("/in/e.gz: begins as a JSON array"));
  Write("/in/e.gz", testing::Gzip(testing::Gzip(lines_)));
  EXPECT_THAT(std::string(Open("/in/e.gz").status().message()),
              HasSubstr("compressed twice"));
}

TEST_F(InputReaderTest, AKindThatIsAskedForIsTaken) {
  Write("/in/d.jsonl", lines_);
  EXPECT_EQ(Open("/in/d.jsonl", TextKind::kText)->kind(), TextKind::kText);
  Write("/in/d", "PAR1");
  EXPECT_EQ(Open("/in/d", TextKind::kText)->ReadAll().value(), "PAR1");
}

TEST_F(InputReaderTest, ContentThatEndsEarlyHasChanged) {
  Write("/in/a.txt", "short");
  InputReader reader = Open("/in/a.txt").value();
  EXPECT_TRUE(absl::IsFailedPrecondition(reader.SkipTo(6)));
}

}  // namespace
}  // namespace skerry::data
