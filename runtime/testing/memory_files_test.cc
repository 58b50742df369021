#include "runtime/testing/memory_files.h"

#include <gtest/gtest.h>

#include "runtime/testing/files_conformance.h"

namespace skerry::runtime {
namespace {

class MemoryFilesDriver {
 public:
  MemoryFilesDriver() { EXPECT_TRUE(files_.MakeDirectory("/disk").ok()); }
  Files& files() { return files_; }
  std::string root() const { return "/disk"; }

 private:
  MemoryFiles files_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(MemoryFiles, FilesConformance,
                               MemoryFilesDriver);

class MemoryFilesTest : public testing::Test {
 protected:
  MemoryFilesTest() { EXPECT_TRUE(files_.MakeDirectory("/d").ok()); }
  absl::Status Write(char content) {
    return files_.WriteDurably("/d/f", std::vector(4, std::byte(content)));
  }
  char First() { return static_cast<char>(files_.Read("/d/f")->at(0)); }
  MemoryFiles files_;
};

TEST_F(MemoryFilesTest, PowerLostInAWriteLeavesTheOldContentOrTheNew) {
  for (const bool keeps_new : {false, true}) {
    ASSERT_TRUE(Write('o').ok());
    files_.LosePowerInNextChange(keeps_new);
    EXPECT_EQ(Write('n').code(), absl::StatusCode::kDataLoss);
    EXPECT_FALSE(files_.Read("/d/f").ok());
    files_.PowerOn();
    EXPECT_EQ(First(), keeps_new ? 'n' : 'o');
  }
}

TEST_F(MemoryFilesTest, AFullDiskRefusesAndKeepsWhatItHad) {
  ASSERT_TRUE(Write('o').ok());
  files_.LimitBytes(6);
  EXPECT_EQ(Write('n').code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(First(), 'o');
  files_.LimitBytes(8);
  EXPECT_TRUE(Write('n').ok());
}

TEST_F(MemoryFilesTest, FailuresBeginAfterTheGivenNumberOfChanges) {
  files_.FailChangesAfter(1, absl::InternalError("broken"));
  EXPECT_TRUE(Write('a').ok());
  EXPECT_EQ(Write('b').code(), absl::StatusCode::kInternal);
  EXPECT_EQ(First(), 'a');
  files_.FailChangesAfter(0, absl::OkStatus());
  EXPECT_TRUE(Write('b').ok());
}

}  // namespace
}  // namespace skerry::runtime
