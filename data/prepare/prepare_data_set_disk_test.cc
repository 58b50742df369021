// Data sets on a real disk: pipes, permissions, other processes, memory.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "data/prepare/prepare_data_set.h"
#include "data/prepare/testing/packed_text.h"
#include "data/prepare/testing/prepare.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/posix/posix_files.h"

namespace skerry::data {
namespace {

using ::testing::HasSubstr;

std::string Lines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    lines += "{\"text\": \"document number " + std::to_string(i) + "\"}\n";
  }
  return lines;
}

// A line of /proc/self/status, in kB.
long StatusKb(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key + ":", 0) == 0) {
      return std::stol(line.substr(key.size() + 1));
    }
  }
  return -1;
}

class PrepareDataSetDiskTest : public ::testing::Test {
 protected:
  PrepareDataSetDiskTest() {
    std::string pattern = ::testing::TempDir() + "/prepare-XXXXXX";
    root_ = mkdtemp(pattern.data());
    options_.output_directory = root_ + "/out";
  }
  ~PrepareDataSetDiskTest() override { std::filesystem::remove_all(root_); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = root_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string Read(const std::string& path) {
    std::ifstream in(root_ + "/" + path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  absl::Status Prepare() {
    return testing::Prepare(options_, {.threads = 2}, files_, err_);
  }

  std::string root_;
  runtime::PosixFiles files_{runtime::PosixFiles::Access::kUmask};
  PrepareOptions options_{.inputs = {}, .output_directory = ""};
  std::ostringstream err_;
};

TEST_F(PrepareDataSetDiskTest, NamedPipesAreReadLikeFiles) {
  options_.inputs = {Write("d.jsonl", Lines(20'000))};
  ASSERT_TRUE(Prepare().ok());
  const std::string fifo = root_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  options_.inputs = {fifo};
  options_.output_directory = root_ + "/piped";
  std::thread writer([&] {
    std::ofstream(fifo, std::ios::binary) << testing::Gzip(Lines(20'000));
  });
  const absl::Status prepared = Prepare();
  writer.join();
  ASSERT_TRUE(prepared.ok()) << prepared;
  EXPECT_EQ(Read("piped/manifest.json"), Read("out/manifest.json"));
  EXPECT_THAT(err_.str(), HasSubstr("fifo is read as JSON lines in gzip"));
}

TEST_F(PrepareDataSetDiskTest, PermissionsFollowTheUmask) {
  options_.inputs = {Write("d.jsonl", Lines(100))};
  for (const mode_t mask : {0022, 0077, 0002}) {
    options_.output_directory = root_ + "/out" + std::to_string(mask);
    const mode_t before = umask(mask);
    const absl::Status prepared = Prepare();
    umask(before);
    ASSERT_TRUE(prepared.ok()) << prepared;
    const auto mode = [&](const std::string& name) {
      struct stat info = {};
      EXPECT_EQ(stat((options_.output_directory + name).c_str(), &info), 0);
      return info.st_mode & 07777;
    };
    EXPECT_EQ(mode(""), 0777u & ~mask);
    for (const char* file : {"/manifest.json", "/prepare.json",
                             "/train_000000.bin", "/.skerry-lock"}) {
      EXPECT_EQ(mode(file), 0666u & ~mask) << file;
    }
  }
}

TEST_F(PrepareDataSetDiskTest, AnotherProcessInTheFolderIsNamed) {
  options_.inputs = {Write("d.jsonl", Lines(100))};
  ASSERT_TRUE(files_.MakeDirectory(options_.output_directory).ok());
  int ready[2];
  int end[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(end), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto held = files_.Hold(options_.output_directory, "other");
    char byte = held.ok() ? 'y' : 'n';
    (void)!write(ready[1], &byte, 1);
    (void)!read(end[0], &byte, 1);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const absl::Status refused = Prepare();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("(process " + std::to_string(child) + ")"));
  ASSERT_EQ(write(end[1], "x", 1), 1);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(Prepare().ok());
}

TEST_F(PrepareDataSetDiskTest, LeftoversOfKilledRunsAreRemovedAndNothingElse) {
  options_.inputs = {Write("d.jsonl", Lines(100))};
  ASSERT_TRUE(files_.MakeDirectory(options_.output_directory).ok());
  for (const char* name :
       {"out/train_000003.bin.17.tmp", "out/prepare.json.2.tmp",
        "out/manifest.json.0.tmp", "out/.skerry-piped-0",
        "out/.skerry-piped-1.4.tmp", "out/notes.tmp", "out/notes.1.tmp",
        "out/train_3.bin.1.tmp"}) {
    Write(name, "left");
  }
  ASSERT_TRUE(Prepare().ok());
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(options_.output_directory)) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre(
                         ".skerry-lock", "manifest.json", "prepare.json",
                         "train_000000.bin", "validation_000000.bin",
                         "notes.tmp", "notes.1.tmp", "train_3.bin.1.tmp"));
}

// D20: 1.16 GB for 100 MB of bytes once.
TEST_F(PrepareDataSetDiskTest, MemoryDoesNotGrowWithTheInputs) {
  const auto growth_kb = [&](size_t mebibytes) {
    std::string text;
    for (int i = 0; text.size() < (1 << 20); ++i) {
      text += "line number " + std::to_string(i) + " of the text\n";
    }
    const std::string path = root_ + "/big.txt";
    {
      std::ofstream file(path, std::ios::binary);
      for (size_t i = 0; i < mebibytes; ++i) file << text;
    }
    options_.inputs = {path};
    options_.output_directory = root_ + "/big" + std::to_string(mebibytes);
    std::ofstream("/proc/self/clear_refs") << "5";
    const long before = StatusKb("VmHWM");
    EXPECT_TRUE(Prepare().ok());
    return StatusKb("VmHWM") - before;
  };
  const long small = growth_kb(8);
  const long large = growth_kb(48);
  std::cout << "peak memory above the start: " << small << " kB for 8 MiB, "
            << large << " kB for 48 MiB\n";
  EXPECT_LT(large, 64 * 1024);
  EXPECT_LT(large - small, 24 * 1024);
}

}  // namespace
}  // namespace skerry::data
