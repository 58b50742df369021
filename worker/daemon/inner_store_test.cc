#include "worker/daemon/inner_store.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "runtime/posix/posix_files.h"
#include "runtime/testing/inline_executor.h"
#include "runtime/testing/manual_loop.h"

namespace skerry::worker {
namespace {

class InnerStoreTest : public testing::Test {
 protected:
  ~InnerStoreTest() override { std::filesystem::remove_all(folder_); }

  InnerStore Make(uint64_t restored) {
    return InnerStore(folder_, Sequence(restored), files_, executor_, loop_);
  }
  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  static std::string Text(const std::string& path) {
    std::string text;
    std::getline(std::ifstream(path), text);
    return text;
  }
  static std::string MakeFolder() {
    std::string name = testing::TempDir() + "/inner-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }

  const std::string folder_ = MakeFolder();
  runtime::PosixFiles files_;
  runtime::InlineExecutor executor_;
  runtime::ManualLoop loop_;
};

TEST_F(InnerStoreTest, TheNextStateTakesThePlaceOfTheLast) {
  InnerStore store = Make(0);
  EXPECT_FALSE(store.is_there());
  for (const char* text : {"one", "two"}) {
    Write(store.next_path(), text);
    store.Keep();
    EXPECT_TRUE(store.busy());
    loop_.RunUntilIdle();
    EXPECT_FALSE(store.busy());
    EXPECT_TRUE(store.is_there());
    EXPECT_EQ(Text(store.path()), text);
    EXPECT_FALSE(std::filesystem::exists(store.next_path()));
  }
}

TEST_F(InnerStoreTest, AStateThatCannotBeKeptLeavesTheLast) {
  InnerStore store = Make(0);
  Write(store.path(), "one");
  store.Keep();  // of a file that is not there
  loop_.RunUntilIdle();
  EXPECT_FALSE(store.busy());
  EXPECT_EQ(Text(store.path()), "one");
}

TEST_F(InnerStoreTest, OnlyTheStateOfThisHistoryIsLeft) {
  InnerStore before = Make(0);
  InnerStore store = Make(40);
  EXPECT_NE(before.path(), store.path());
  Write(before.path(), "before");
  Write(store.path(), "now");
  Write(store.next_path(), "half");
  Write(folder_ + "/rank-0.log", "a log");
  EXPECT_TRUE(IsInnerFile("inner-40.safetensors.new"));
  EXPECT_FALSE(IsInnerFile("rank-0.log"));
  ASSERT_TRUE(store.Tidy().ok());
  EXPECT_FALSE(before.is_there());
  EXPECT_EQ(Text(store.path()), "now");
  EXPECT_FALSE(std::filesystem::exists(store.next_path()));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/rank-0.log"));
}

}  // namespace
}  // namespace skerry::worker
