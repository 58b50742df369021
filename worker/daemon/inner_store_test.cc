#include "worker/daemon/inner_store.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

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
    return InnerStore(
        folder_, Sequence(restored), files_, executor_, loop_,
        [this](const InnerSource& from, const std::string& path) {
          if (fetched_.ok()) Write(path, from.name);
          return fetched_;
        },
        [this] { ++changes_; });
  }
  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text << "\n";
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
  absl::Status fetched_;  // what a fetch ends with
  int changes_ = 0;
};

TEST_F(InnerStoreTest, TheNextStateTakesThePlaceOfTheLast) {
  InnerStore store = Make(0);
  EXPECT_FALSE(store.is_there());
  for (const char* text : {"one", "two"}) {
    Write(store.next_path(), text);
    store.Keep(7);
    EXPECT_TRUE(store.busy());
    loop_.RunUntilIdle();
    EXPECT_FALSE(store.busy());
    EXPECT_TRUE(store.is_there());
    EXPECT_EQ(Text(store.path()), text);
    EXPECT_FALSE(std::filesystem::exists(store.next_path()));
  }
}

TEST_F(InnerStoreTest, ACheckpointReadsTheStateOfItsSequenceToTheEnd) {
  InnerStore store = Make(0);
  EXPECT_EQ(store.Open(7).status().message(),
            "this worker's trainer has saved no inner state");
  Write(store.next_path(), "seven");
  store.Keep(7);
  loop_.RunUntilIdle();
  EXPECT_EQ(changes_, 1);
  EXPECT_EQ(store.Open(8).status().message(),
            "the inner state that this worker saved last is of sequence 7");
  const auto seven = store.Open(7);
  ASSERT_TRUE(seven.ok()) << seven.status();
  // The next one takes its place while the checkpoint is written.
  Write(store.next_path(), "eight, and longer");
  store.Keep(8);
  loop_.RunUntilIdle();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(seven->bytes().data()),
                        seven->size()),
            "seven\n");
  EXPECT_FALSE(store.Open(7).ok());
  EXPECT_TRUE(store.Open(8).ok());
}

TEST_F(InnerStoreTest, AStateFromElsewhereIsLoadedAndGoesIntoNoCheckpoint) {
  InnerStore store = Make(0);
  absl::Status answer = absl::UnknownError("");
  const auto import = [&](absl::Status copied) {
    fetched_ = std::move(copied);
    InnerSource from;
    from.name = "a checkpoint's";
    store.Import(
        from, [&answer](absl::Status status) { answer = std::move(status); });
    loop_.RunUntilIdle();
  };
  import(absl::DataLossError("damaged"));
  EXPECT_EQ(answer.message(), "damaged");
  EXPECT_FALSE(store.is_there());
  import(absl::OkStatus());
  EXPECT_TRUE(answer.ok());
  EXPECT_TRUE(store.is_there());
  EXPECT_EQ(Text(store.path()), "a checkpoint's");
  // Its sequence is one of the job that it comes from.
  EXPECT_TRUE(absl::IsNotFound(store.Open(7).status()));
}

TEST_F(InnerStoreTest, AStateThatCannotBeKeptLeavesTheLast) {
  InnerStore store = Make(0);
  Write(store.path(), "one");
  store.Keep(7);  // of a file that is not there
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
