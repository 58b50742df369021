#include "worker/daemon/folder_id.h"

#include <span>
#include <string>

#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::worker {
namespace {

uint64_t Never() {
  ADD_FAILURE() << "a number is drawn";
  return 1;
}

TEST(FolderIdTest, IsDrawnOnceAndKept) {
  runtime::MemoryFiles files;
  ASSERT_TRUE(files.MakeDirectory("state").ok());
  const auto first = FolderIdOf("state", files, [] { return 0xabc; });
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*first, FolderId(0xabc));
  const auto again = FolderIdOf("state", files, Never);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, *first);
}

TEST(FolderIdTest, ADamagedOneIsDrawnAnew) {
  for (const std::string damaged :
       {"", "12\n", "0000000000000000\n", "00000000000000zz\n",
        " 000000000000012\n", "000000000000001200\n"}) {
    runtime::MemoryFiles files;
    ASSERT_TRUE(files.MakeDirectory("state").ok());
    ASSERT_TRUE(files
                    .WriteDurably("state/identity",
                                  std::as_bytes(std::span(damaged.data(),
                                                          damaged.size())))
                    .ok());
    const auto id = FolderIdOf("state", files, [] { return 7; });
    ASSERT_TRUE(id.ok()) << id.status();
    EXPECT_EQ(*id, FolderId(7)) << damaged;
    EXPECT_EQ(*FolderIdOf("state", files, Never), FolderId(7));
  }
}

}  // namespace
}  // namespace skerry::worker
