// The program as scripts see it: standard output and exit code.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/service/testing/coordinator_process.h"
#include "coordinator/service/testing/memory_journal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using coordinator::CoordinatorProcess;
using coordinator::MemoryDisk;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct Ran {
  std::string out;
  std::string err;
  int code = -1;
};

std::string TextOf(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class SkerryctlTest : public testing::Test {
 protected:
  SkerryctlTest() {
    process_.emplace(disk_);
    EXPECT_TRUE(process_->started().ok()) << process_->started();
    address_ = process_->address();
    std::string name = testing::TempDir() + "skerryctl-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~SkerryctlTest() override { std::filesystem::remove_all(folder_); }

  Ran Run(const std::string& words) {
    const std::string err = folder_ + "/err";
    const std::string line = absl::StrCat("SKERRY_COORDINATOR=", address_,
                                          " cli/skerryctl ", words, " 2>", err);
    Ran ran;
    FILE* pipe = popen(line.c_str(), "r");
    char buffer[4096];
    for (size_t count; (count = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
      ran.out.append(buffer, count);
    }
    ran.code = WEXITSTATUS(pclose(pipe));
    ran.err = TextOf(err);
    return ran;
  }
  // The name of a file with a job called `name`.
  std::string JobFile(const std::string& name, const std::string& more = "") {
    const std::string path = absl::StrCat(folder_, "/", name, ".yaml");
    std::ofstream(path) << "name: " << name << R"(
model: {config_json: '{"model_type": "gpt2", "n_positions": 64}'}
data: {path: /data/text, manifest_sha256: )"
                        << std::string(64, 'a') << R"(}
training: {samples: 1000, batch_samples: 4}
outer: {method: diloco}
)" << more;
    return path;
  }

  MemoryDisk disk_;
  std::optional<CoordinatorProcess> process_;
  std::string address_;
  std::string folder_;
};

TEST_F(SkerryctlTest, DataGoesToOutputAndHintsToError) {
  const Ran submitted = Run("submit -f " + JobFile("one"));
  EXPECT_EQ(submitted.code, 0) << submitted.err;
  EXPECT_EQ(submitted.out, "one\n");
  EXPECT_THAT(submitted.err, HasSubstr("skerryctl watch job one"));
  EXPECT_THAT(Run("get jobs").out, HasSubstr("\none "));
  EXPECT_THAT(Run("get job one -o json").out, StartsWith("{\n \"id\": \"1\""));
  EXPECT_THAT(Run("describe job one").out, StartsWith("Name:"));
  EXPECT_THAT(Run("get workers").out, StartsWith("NAME"));
  EXPECT_THAT(Run("get islands -o json").out, HasSubstr("\"islands\": []"));
  EXPECT_THAT(Run("audit data one").out, HasSubstr("[0, 1000)"));
  EXPECT_THAT(Run("logs one").out, HasSubstr("JobSubmitted"));
  EXPECT_THAT(Run("version").out, HasSubstr("coordinator"));
}

TEST_F(SkerryctlTest, WrongLinesGiveTwo) {
  EXPECT_EQ(Run("get jobs -o xml").code, 2);
  EXPECT_EQ(Run("--coordinator 10.0.0.1:1 get jobs").code, 2);
}

TEST_F(SkerryctlTest, AMissingJobGivesThree) {
  const Ran ran = Run("get job nobody");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "skerryctl: no job named nobody\n");
  EXPECT_EQ(Run("watch job nobody").code, 3);
  EXPECT_EQ(Run("logs nobody -f").code, 3);
}

TEST_F(SkerryctlTest, ATakenNameGivesFour) {
  EXPECT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  EXPECT_EQ(Run("submit -f " + JobFile("one")).code, 4);
}

TEST_F(SkerryctlTest, AnAddressThatNobodyServesGivesSix) {
  process_.reset();
  const Ran ran = Run("get jobs");
  EXPECT_EQ(ran.code, 6);
  EXPECT_THAT(ran.err, HasSubstr(address_));
}

TEST_F(SkerryctlTest, AWrongJobGivesSevenWhoeverFindsIt) {
  const Ran here = Run("submit -f " + JobFile("one", "trainning: {}\n"));
  EXPECT_EQ(here.code, 7);
  EXPECT_THAT(here.err, HasSubstr("one.yaml:6:1: there is no field trainning"));
  const Ran there =
      Run("submit -f " + JobFile("one", "exchange: {quorum: 7}\n"));
  EXPECT_EQ(there.code, 7);
  EXPECT_THAT(there.err, HasSubstr("exchange.quorum"));
  EXPECT_EQ(Run("submit -f " + folder_ + "/nothing.yaml").code, 7);
}

TEST_F(SkerryctlTest, WatchingACancelledJobGivesNine) {
  ASSERT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  EXPECT_EQ(Run("cancel one").out, "one cancelled\n");
  const Ran watched = Run("watch job one");
  EXPECT_EQ(watched.code, 9);
  EXPECT_THAT(watched.out, StartsWith("cancelled"));
  EXPECT_EQ(Run("logs one -f").code, 0);
  EXPECT_THAT(Run("watch job one -o json").out, EndsWith("}\n"));
}

TEST_F(SkerryctlTest, GeneratingWithoutAModelGivesFour) {
  ASSERT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  EXPECT_EQ(Run("generate one --prompt x").code, 4);
}

TEST_F(SkerryctlTest, ACheckpointOfNothingGivesFourAndLeavesNothing) {
  const std::string store = folder_ + "/store";
  EXPECT_EQ(Run("checkpoint create nobody --to " + store).code, 3);
  ASSERT_EQ(Run("submit -f " + JobFile("one")).code, 0);
  const Ran ran = Run("checkpoint create one --to " + store);
  EXPECT_EQ(ran.code, 4);
  EXPECT_THAT(ran.err, HasSubstr("no sequence of job one has all its spans"));
  EXPECT_FALSE(std::filesystem::exists(store));
  EXPECT_EQ(Run("checkpoint verify " + store).code, 3);
  EXPECT_EQ(Run("checkpoint list " + store).out,
            "NAME  JOB  SEQUENCE  SAMPLES  SIZE  STATE\n");
}

}  // namespace
}  // namespace skerry::cli
