#include "cli/config_file.h"

#include <span>
#include <string>

#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::cli {
namespace {

constexpr char kPath[] = "/home/a/.config/skerry/config.yaml";

class ConfigFileTest : public testing::Test {
 protected:
  absl::StatusOr<Config> Read(const std::string& text) {
    EXPECT_TRUE(
        files_.WriteDurably(kPath, std::as_bytes(std::span(text))).ok());
    return ReadConfig(kPath, files_);
  }
  std::string Problem(const std::string& text) {
    return std::string(Read(text).status().message());
  }
  void SetUp() override {
    ASSERT_TRUE(files_.MakeDirectory("/home/a/.config/skerry").ok());
  }

  runtime::MemoryFiles files_;
};

TEST_F(ConfigFileTest, WhatIsWrittenIsRead) {
  Config config;
  config.Set({"lab", "127.0.0.1:7443"});
  config.Set({"field", "far.example.org:7444", "/f/ca.pem", "/f/cert.pem",
              "/f/key.pem"});
  config.Set({"lab", "127.0.0.1:7445"});
  config.current = "lab";
  ASSERT_TRUE(WriteConfig(kPath, config, files_).ok());
  const auto read = ReadConfig(kPath, files_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, config);
  ASSERT_EQ(read->contexts.size(), 2u);
  EXPECT_EQ(read->Find("lab")->coordinator, "127.0.0.1:7445");
}

TEST_F(ConfigFileTest, NoFileIsNoContexts) {
  const auto read = ReadConfig("/home/a/.config/skerry/none.yaml", files_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, Config());
}

TEST_F(ConfigFileTest, MistakesAreShownWithTheirPlace) {
  const std::string path = kPath;
  EXPECT_EQ(Problem("curent: lab\n"),
            path + ":1:1: there is no field curent; did you mean current?");
  EXPECT_EQ(Problem("contexts:\n  - name: a\n    cordinator: b\n"),
            path +
                ":3:5: there is no field cordinator; did you mean "
                "coordinator?");
  EXPECT_EQ(Problem("contexts:\n  - name: a\n    coordinator: b:1\n"
                    "    cert: c\n    ca: a\n"),
            path + ":2:5: field key has to be a word");
  EXPECT_EQ(Problem("contexts:\n  - name: a\n"),
            path + ":2:5: field coordinator has to be a word");
  EXPECT_EQ(Problem("contexts: a\n"),
            path + ":1:11: contexts has to be a list");
  EXPECT_EQ(Problem("- a\n"), path + ":1:1: has to be a mapping");
  EXPECT_FALSE(Read("a: [\n").ok());
}

TEST_F(ConfigFileTest, ARemovedContextIsNoLongerTheCurrentOne) {
  Config config;
  config.Set({"lab", "127.0.0.1:7443"});
  config.current = "lab";
  EXPECT_EQ(config.Remove("lap").message(),
            "no context named lap; did you mean lab?");
  ASSERT_TRUE(config.Remove("lab").ok());
  EXPECT_EQ(config, Config());
}

}  // namespace
}  // namespace skerry::cli
