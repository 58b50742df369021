#include "worker/daemon/programs.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "gtest/gtest.h"
#include "runtime/posix/posix_files.h"
#include "runtime/testing/inline_executor.h"
#include "runtime/testing/manual_loop.h"

namespace skerry::worker {
namespace {

std::string HashOf(const std::string& text) {
  return Sha256Hex(std::as_bytes(std::span(text)));
}

class ProgramsTest : public testing::Test {
 protected:
  ProgramsTest() : folder_(testing::TempDir() + "/programs") {
    std::filesystem::create_directories(folder_);
    Write("one");
  }
  ~ProgramsTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& text) {
    std::ofstream(File(), std::ios::trunc) << text;
  }
  std::string File() const { return folder_ + "/train.py"; }
  Programs Make() { return {{{"resnet", File()}}, files_, loop_, reader_}; }
  absl::StatusOr<std::string> Find(Programs& programs,
                                   const job::JobSpec::Program& wanted) {
    std::optional<absl::StatusOr<std::string>> answer;
    programs.Find(wanted, [&](absl::StatusOr<std::string> found) {
      answer = std::move(found);
    });
    loop_.RunUntilIdle();
    return answer.value_or(absl::InternalError("no answer"));
  }

  const std::string folder_;
  runtime::PosixFiles files_;
  runtime::ManualLoop loop_;
  runtime::LoopExecutor reader_{loop_};
};

TEST_F(ProgramsTest, NameAndHashAreSaidAtOnce) {
  const Programs programs = Make();
  EXPECT_EQ(programs.Facts(),
            (std::vector<protocol::ProgramFact>{{"resnet", HashOf("one")}}));
}

TEST_F(ProgramsTest, AFileThatChangesIsHashedAgain) {
  Programs programs = Make();
  int changes = 0;
  programs.KeepLooking([&] { ++changes; });
  loop_.Advance(absl::Seconds(5));
  loop_.RunUntilIdle();
  EXPECT_EQ(changes, 0);
  Write("another one");
  loop_.Advance(absl::Seconds(5));
  loop_.RunUntilIdle();
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(programs.Facts()[0].sha256, HashOf("another one"));
  std::filesystem::remove(File());
  loop_.Advance(absl::Seconds(5));
  loop_.RunUntilIdle();
  EXPECT_EQ(programs.Facts()[0].sha256, "");
}

TEST_F(ProgramsTest, AJobGetsTheFileOfTheNameThatItNames) {
  Programs programs = Make();
  EXPECT_EQ(Find(programs, {"resnet"}).value(), File());
  EXPECT_EQ(Find(programs, {"resnet", "{}", HashOf("one")}).value(), File());
}

TEST_F(ProgramsTest, AProgramThatIsNotAllowedIsNamed) {
  Programs programs = Make();
  const absl::Status refused = Find(programs, {"bert"}).status();
  EXPECT_TRUE(absl::IsNotFound(refused));
  EXPECT_EQ(refused.message(),
            "this worker allows no program bert, only resnet; its operator "
            "can, with --program bert=FILE");
}

TEST_F(ProgramsTest, AnotherProgramIsRefusedWithBothHashes) {
  Programs programs = Make();
  const absl::Status refused =
      Find(programs, {"resnet", "{}", HashOf("two")}).status();
  EXPECT_TRUE(absl::IsNotFound(refused));
  EXPECT_EQ(refused.message(),
            "this worker's program resnet is not the job's: its SHA-256 is " +
                HashOf("one") + ", the job names " + HashOf("two"));
  // The file is looked at when the job asks.
  Write("two");
  std::filesystem::last_write_time(
      File(),
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_TRUE(Find(programs, {"resnet", "{}", HashOf("two")}).ok());
}

TEST_F(ProgramsTest, AFileThatCannotBeReadIsNamed) {
  std::filesystem::remove(File());
  Programs programs = Make();
  EXPECT_EQ(programs.Facts()[0].sha256, "");
  const absl::Status refused = Find(programs, {"resnet"}).status();
  EXPECT_TRUE(absl::IsNotFound(refused));
  EXPECT_NE(refused.message().find(File()), std::string::npos) << refused;
}

}  // namespace
}  // namespace skerry::worker
