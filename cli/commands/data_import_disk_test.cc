// Imported data sets on a real disk: permissions, other runs, leftovers.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands/data_import.h"
#include "data/token_shard.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/posix/posix_files.h"

namespace skerry::cli {
namespace {

using ::testing::HasSubstr;

class DataImportDiskTest : public ::testing::Test {
 protected:
  DataImportDiskTest() {
    std::string pattern = ::testing::TempDir() + "/import-XXXXXX";
    root_ = mkdtemp(pattern.data());
    std::vector<uint16_t> tokens(100);
    std::iota(tokens.begin(), tokens.end(), uint16_t{0});
    Write("in.bin", data::EncodeTokenShard(tokens).value());
    options_.inputs = {root_ + "/in.bin"};
    options_.output_directory = root_ + "/out";
  }
  ~DataImportDiskTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& name, const std::string& content) {
    const auto bytes = std::as_bytes(std::span(content));
    EXPECT_TRUE(files_.WriteDurably(root_ + "/" + name, bytes).ok());
  }
  absl::Status Import() { return DataImport(options_, files_, out_); }

  std::string root_;
  // skerryctl makes files with the same rights.
  runtime::PosixFiles files_{runtime::PosixFiles::Access::kUmask};
  DataImportOptions options_{
      .inputs = {}, .vocab_size = 100, .output_directory = ""};
  std::ostringstream out_;
};

TEST_F(DataImportDiskTest, TwoRunsInOneFolderAreRefused) {
  ASSERT_TRUE(files_.MakeDirectory(options_.output_directory).ok());
  auto other = files_.Hold(options_.output_directory, "run");
  ASSERT_TRUE(other.ok()) << other.status();
  const absl::Status refused = Import();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("is in use by another command that makes a data set "
                        "(process " +
                        std::to_string(getpid()) + "); stop it"));
  EXPECT_FALSE(
      std::filesystem::exists(options_.output_directory + "/manifest.json"));
  other->reset();
  EXPECT_TRUE(Import().ok());
}

TEST_F(DataImportDiskTest, LeftoversOfKilledRunsAreRemovedAndNothingElse) {
  ASSERT_TRUE(files_.MakeDirectory(options_.output_directory).ok());
  for (const char* name :
       {"out/train_000003.bin.17.tmp", "out/validation_000001.bin.2.tmp",
        "out/manifest.json.0.tmp", "out/notes.tmp", "out/notes.1.tmp",
        "out/train_3.bin.1.tmp"}) {
    Write(name, "left");
  }
  ASSERT_TRUE(Import().ok());
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(options_.output_directory)) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre(
                         ".skerry-lock", "manifest.json", "train_000000.bin",
                         "validation_000000.bin", "notes.tmp", "notes.1.tmp",
                         "train_3.bin.1.tmp"));
}

TEST_F(DataImportDiskTest, PermissionsFollowTheUmask) {
  for (const mode_t mask : {0022, 0077, 0002}) {
    options_.output_directory = root_ + "/out" + std::to_string(mask);
    const mode_t before = umask(mask);
    const absl::Status imported = Import();
    umask(before);
    ASSERT_TRUE(imported.ok()) << imported;
    const auto mode = [&](const std::string& name) {
      struct stat info = {};
      EXPECT_EQ(stat((options_.output_directory + name).c_str(), &info), 0);
      return info.st_mode & 07777;
    };
    EXPECT_EQ(mode(""), 0777u & ~mask);
    for (const char* file : {"/manifest.json", "/train_000000.bin",
                             "/validation_000000.bin", "/.skerry-lock"}) {
      EXPECT_EQ(mode(file), 0666u & ~mask) << file;
    }
  }
}

}  // namespace
}  // namespace skerry::cli
