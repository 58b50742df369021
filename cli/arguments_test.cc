#include "cli/arguments.h"

#include <stdlib.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

Arguments Good(const std::vector<std::string>& words) {
  const Parsed parsed = ParseArguments(words);
  EXPECT_TRUE(parsed.arguments.has_value()) << parsed.text;
  return parsed.arguments.value_or(Arguments{});
}

TEST(ArgumentsTest, EveryCommandIsKnown) {
  const std::vector<std::pair<std::vector<std::string>, Command>> lines = {
      {{"submit", "-f", "job.yaml"}, Command::kSubmit},
      {{"get", "jobs"}, Command::kGetJobs},
      {{"get", "job", "a"}, Command::kGetJob},
      {{"get", "workers"}, Command::kGetWorkers},
      {{"get", "islands"}, Command::kGetIslands},
      {{"describe", "job", "a"}, Command::kDescribeJob},
      {{"describe", "model", "config.json", "--samples", "2"},
       Command::kDescribeModel},
      {{"watch", "job", "a"}, Command::kWatchJob},
      {{"logs", "a", "-f"}, Command::kLogs},
      {{"cancel", "a"}, Command::kCancel},
      {{"audit", "data", "a"}, Command::kAuditData},
      {{"generate", "a", "--prompt", "In the"}, Command::kGenerate},
      {{"data", "prepare", "x", "y", "--out", "z"}, Command::kDataPrepare},
      {{"checkpoint", "create", "a", "--to", "f"}, Command::kCheckpointCreate},
      {{"checkpoint", "list", "f"}, Command::kCheckpointList},
      {{"checkpoint", "verify", "f"}, Command::kCheckpointVerify},
      {{"checkpoint", "export", "f", "--out", "o"}, Command::kCheckpointExport},
      {{"state", "export", "--state", "d"}, Command::kStateExport},
      {{"state", "verify", "--state", "d"}, Command::kStateVerify},
      {{"state", "backup", "--state", "d", "--to", "e"}, Command::kStateBackup},
      {{"version"}, Command::kVersion},
  };
  for (const auto& [words, command] : lines) {
    SCOPED_TRACE(testing::PrintToString(words));
    EXPECT_EQ(Good(words).command, command);
  }
}

TEST(ArgumentsTest, ACheckpointIsDescribed) {
  const Arguments create =
      Good({"checkpoint", "create", "bible", "--to", "/c", "--keep", "3"});
  EXPECT_EQ(create.checkpoint.job, "bible");
  EXPECT_EQ(create.checkpoint.folder, "/c");
  EXPECT_EQ(create.checkpoint.keep, 3u);
  const Arguments exported =
      Good({"checkpoint", "export", "/c", "--out", "/o", "--dtype", "bf16",
            "--name", "checkpoint-7", "--file-bytes", "1000"});
  EXPECT_EQ(exported.checkpoint.folder, "/c");
  EXPECT_EQ(exported.checkpoint.out, "/o");
  EXPECT_EQ(exported.checkpoint.name, "checkpoint-7");
  EXPECT_EQ(exported.checkpoint.dtype, model::Dtype::kBf16);
  EXPECT_EQ(exported.checkpoint.file_bytes_max, 1000u);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"checkpoint", "create", "bible"},
           {"checkpoint", "export", "/c"},
           {"checkpoint", "list"},
           {"checkpoint", "export", "/c", "--out", "/o", "--dtype", "i8"}}) {
    EXPECT_EQ(ParseArguments(words).code, ExitCode::kUsage);
  }
}

TEST(ArgumentsTest, OptionsOfTheProgramMayStandAnywhere) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"-o", "json", "--coordinator", "127.0.0.1:1", "get", "jobs"},
           {"get", "-o", "json", "jobs", "--coordinator", "127.0.0.1:1"},
           {"get", "jobs", "-o", "json", "--coordinator=127.0.0.1:1"}}) {
    const Arguments arguments = Good(words);
    EXPECT_EQ(arguments.form, OutputForm::kJson);
    EXPECT_EQ(arguments.coordinator, "127.0.0.1:1");
  }
}

TEST(ArgumentsTest, TheFlagWinsOverTheEnvironmentAndThatOverTheDefault) {
  unsetenv("SKERRY_COORDINATOR");
  EXPECT_EQ(Good({"get", "jobs"}).coordinator, "127.0.0.1:7443");
  setenv("SKERRY_COORDINATOR", "127.0.0.1:2", 1);
  EXPECT_EQ(Good({"get", "jobs"}).coordinator, "127.0.0.1:2");
  EXPECT_EQ(Good({"get", "jobs", "--coordinator", "127.0.0.1:3"}).coordinator,
            "127.0.0.1:3");
  unsetenv("SKERRY_COORDINATOR");
}

TEST(ArgumentsTest, GenerateTakesItsNumbers) {
  const GenerateArguments generate =
      Good({"generate", "a", "--prompt", "In the", "--tokens", "5",
            "--temperature", "0", "--seed", "9", "--timeout", "1.5"})
          .generate;
  EXPECT_EQ(generate.job, "a");
  EXPECT_EQ(generate.prompt, "In the");
  EXPECT_EQ(generate.tokens, 5u);
  EXPECT_EQ(generate.temperature, 0);
  EXPECT_EQ(generate.seed, 9u);
  EXPECT_EQ(generate.timeout, absl::Milliseconds(1500));
}

TEST(ArgumentsTest, DataPrepareTakesItsFiles) {
  const DataPrepareOptions prepare =
      Good({"data", "prepare", "x", "y", "--out", "z", "--validation", "0.1"})
          .prepare;
  EXPECT_THAT(prepare.inputs, ElementsAre("x", "y"));
  EXPECT_EQ(prepare.output_directory, "z");
  EXPECT_EQ(prepare.validation_fraction, 0.1);
}

TEST(ArgumentsTest, AWrongLineIsOneLineAndCodeTwo) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {},
           {"get"},
           {"get", "job"},
           {"fly"},
           {"submit"},
           {"get", "jobs", "-o", "xml"},
           {"generate", "a"},
           {"generate", "a", "--prompt", "x", "--tokens", "many"},
           {"generate", "a", "--prompt", "x", "--temperature", "-1"},
           {"cancel", "a", "b"}}) {
    SCOPED_TRACE(testing::PrintToString(words));
    const Parsed parsed = ParseArguments(words);
    EXPECT_FALSE(parsed.arguments.has_value());
    EXPECT_EQ(parsed.code, ExitCode::kUsage);
    EXPECT_THAT(parsed.text, EndsWith("(see skerryctl --help)\n"));
    EXPECT_THAT(parsed.text.substr(0, parsed.text.size() - 1),
                Not(HasSubstr("\n")));
  }
}

TEST(ArgumentsTest, HelpNamesTheCommandsAndTheExitCodes) {
  const Parsed parsed = ParseArguments({"--help"});
  EXPECT_EQ(parsed.code, ExitCode::kOk);
  EXPECT_THAT(parsed.text, HasSubstr("submit"));
  EXPECT_THAT(parsed.text, HasSubstr("Exit codes"));
  EXPECT_THAT(ParseArguments({"generate", "--help"}).text,
              HasSubstr("--temperature"));
}

}  // namespace
}  // namespace skerry::cli
