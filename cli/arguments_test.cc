#include "cli/arguments.h"

#include <stdlib.h>

#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "cli/output.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

CommandLine Good(const std::vector<std::string>& words) {
  const Parsed parsed = ParseArguments(words);
  EXPECT_TRUE(parsed.line.has_value()) << parsed.text;
  return parsed.line.value_or(CommandLine{});
}

TEST(ArgumentsTest, OptionsOfTheProgramMayStandAnywhere) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"-o", "json", "--coordinator", "127.0.0.1:1", "get", "jobs"},
           {"get", "-o", "json", "jobs", "--coordinator", "127.0.0.1:1"},
           {"get", "jobs", "-o", "json", "--coordinator=127.0.0.1:1"}}) {
    const SharedArguments shared = Good(words).shared;
    EXPECT_EQ(shared.form, OutputForm::kJson);
    EXPECT_EQ(shared.coordinator, "127.0.0.1:1");
  }
}

TEST(ArgumentsTest, AnEmptyValueIsNamedButTextsMayBeEmpty) {
  const Parsed option = ParseArguments({"get", "jobs", "--coordinator", ""});
  EXPECT_EQ(option.code, ExitCode::kUsage);
  EXPECT_THAT(option.text, HasSubstr("--coordinator is empty: give it a value, "
                                     "or leave it out"));
  const Parsed file = ParseArguments({"submit", "-f", ""});
  EXPECT_EQ(file.code, ExitCode::kUsage);
  EXPECT_THAT(file.text, HasSubstr("is empty: give it a value"));
  Good({"generate", "a", "--prompt", ""});
}

TEST(ArgumentsTest, TheFlagWinsOverTheEnvironmentAndThatOverTheDefault) {
  unsetenv("SKERRY_COORDINATOR");
  EXPECT_EQ(Good({"get", "jobs"}).shared.coordinator, "127.0.0.1:7443");
  setenv("SKERRY_COORDINATOR", "127.0.0.1:2", 1);
  EXPECT_EQ(Good({"get", "jobs"}).shared.coordinator, "127.0.0.1:2");
  EXPECT_EQ(
      Good({"get", "jobs", "--coordinator", "127.0.0.1:3"}).shared.coordinator,
      "127.0.0.1:3");
  unsetenv("SKERRY_COORDINATOR");
}

TEST(ArgumentsTest, AContextWinsOverTheEnvironmentAndTheFlagOverBoth) {
  using Origin = SharedArguments::Origin;
  const auto origin = [](const std::vector<std::string>& words) {
    return Good(words).shared.coordinator_origin;
  };
  setenv("SKERRY_COORDINATOR", "127.0.0.1:2", 1);
  EXPECT_EQ(origin({"get", "jobs"}), Origin::kEnvironment);
  const SharedArguments context =
      Good({"get", "jobs", "--context", "lab"}).shared;
  EXPECT_EQ(context.context, "lab");
  EXPECT_EQ(context.coordinator_origin, Origin::kDefault);
  EXPECT_EQ(origin({"get", "jobs", "--context", "lab", "--coordinator",
                    "127.0.0.1:3"}),
            Origin::kLine);
  unsetenv("SKERRY_COORDINATOR");
  EXPECT_EQ(origin({"get", "jobs"}), Origin::kDefault);
}

TEST(ArgumentsTest, FormsBelongToTheCommandsThatHaveThem) {
  EXPECT_EQ(Good({"get", "jobs", "-o", "wide"}).shared.form, OutputForm::kWide);
  EXPECT_EQ(Good({"cancel", "a", "-o", "name"}).shared.form, OutputForm::kName);
  EXPECT_EQ(Good({"watch", "job", "a", "-o", "yaml"}).shared.form,
            OutputForm::kYaml);
  EXPECT_EQ(Good({"watch", "job", "a", "-o", "wide"}).shared.form,
            OutputForm::kWide);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"logs", "a", "-o", "wide"},
           {"watch", "job", "a", "-o", "custom-columns=NAME:spec.name"},
           {"describe", "job", "a", "-o", "name"},
           {"top", "-o", "json"}}) {
    SCOPED_TRACE(testing::PrintToString(words));
    EXPECT_EQ(ParseArguments(words).code, ExitCode::kUsage);
  }
}

TEST(ArgumentsTest, CustomColumnsAreForTheOutput) {
  const SharedArguments shared =
      Good({"get", "jobs", "-o", "custom-columns=NAME:spec.name"}).shared;
  EXPECT_EQ(shared.form, OutputForm::kColumns);
  EXPECT_EQ(shared.columns, "NAME:spec.name");
}

// What a user is told who mistypes.
TEST(ArgumentsTest, AMistypedWordHasANearestOne) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> lines = {
      {{"sumbit", "-f", "x"},
       "skerryctl has no command sumbit; did you mean submit?"},
      {{"get", "worker"}, "get has no command worker; did you mean workers?"},
      {{"get", "jobs", "--coordinater", "x"},
       "get jobs has no option --coordinater; did you mean --coordinator?"},
      {{"logs", "a", "--folow"},
       "logs has no option --folow; did you mean --follow?"},
      {{"fly"}, "skerryctl has no command fly"},
      {{"get", "jobs", "-o", "jason"}, "did you mean json?"},
      {{"wait", "job", "a", "--for", "suceeded"}, "did you mean succeeded?"},
      {{"events", "a", "--name", "Comitted"}, "did you mean Committed?"},
      {{"wait", "job", "a", "--for", "ended", "--timeout", "soon"},
       "soon is no time like 90s or 1h30m"},
      {{"config", "set", "lab"}, "--coordinator is required"}};
  for (const auto& [words, said] : lines) {
    SCOPED_TRACE(testing::PrintToString(words));
    const Parsed parsed = ParseArguments(words);
    EXPECT_EQ(parsed.code, ExitCode::kUsage);
    EXPECT_THAT(parsed.text, HasSubstr(said));
  }
}

std::vector<std::string> Completed(const std::vector<std::string>& words) {
  return CompleteArguments(words).words;
}

TEST(ArgumentsTest, HalfALineIsCompleted) {
  EXPECT_THAT(Completed({"ge"}), ElementsAre("generate", "get"));
  EXPECT_THAT(Completed({"get", ""}),
              ElementsAre("islands", "job", "jobs", "workers"));
  EXPECT_THAT(Completed({"get", "jobs", "-o", "j"}),
              ElementsAre("json", "jsonl"));
  EXPECT_THAT(Completed({"wait", "job", "a", "--for", "p"}),
              ElementsAre("paused", "pending"));
  EXPECT_THAT(Completed({"logs", "a", "--fo"}), ElementsAre("--follow"));
  EXPECT_THAT(Completed({"completion", "z"}), ElementsAre("zsh"));
  EXPECT_TRUE(Completed({"nonsense", ""}).empty());
  EXPECT_EQ(CompleteArguments({"cancel", ""}).names, Names::kJobs);
  EXPECT_EQ(CompleteArguments({"cancel", "a", ""}).names, Names::kNone);
  EXPECT_EQ(CompleteArguments({"drain", ""}).names, Names::kWorkers);
  EXPECT_EQ(CompleteArguments({"submit", "-f", ""}).names, Names::kFiles);
  EXPECT_EQ(CompleteArguments({"explain", "tr"}).names, Names::kFields);
  EXPECT_EQ(CompleteArguments({"config", "use", ""}).names, Names::kContexts);
  EXPECT_EQ(CompleteArguments({"--coordinator=h:1", "cancel", ""}).coordinator,
            "h:1");
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
           {"sample"},
           {"eval", "m", "--split", "test"},
           {"cancel", "a", "b"}}) {
    SCOPED_TRACE(testing::PrintToString(words));
    const Parsed parsed = ParseArguments(words);
    EXPECT_FALSE(parsed.line.has_value());
    EXPECT_EQ(parsed.code, ExitCode::kUsage);
    EXPECT_THAT(parsed.text, HasSubstr("(see skerryctl"));
    EXPECT_THAT(parsed.text, EndsWith(" --help)\n"));
    EXPECT_THAT(parsed.text.substr(0, parsed.text.size() - 1),
                Not(HasSubstr("\n")));
  }
}

// Every line of commands, as far as there are commands to complete it with.
void CollectCommands(const std::vector<std::string>& line,
                     std::vector<std::vector<std::string>>& lines) {
  std::vector<std::string> longer = line;
  longer.emplace_back("");
  for (const std::string& word : CompleteArguments(longer).words) {
    if (word.front() == '-') continue;
    longer.back() = word;
    // A value of an argument is no command.
    if (!ParseArguments({longer.begin(), longer.end()}).line.has_value() ||
        line.empty()) {
      lines.push_back(longer);
      if (longer.size() < 3) CollectCommands(longer, lines);
    }
  }
}

TEST(ArgumentsTest, EveryNumberHasBounds) {
  std::vector<std::vector<std::string>> lines;
  CollectCommands({}, lines);
  EXPECT_GT(lines.size(), 40u);
  for (std::vector<std::string>& line : lines) {
    line.emplace_back("--help");
    const std::string help = ParseArguments(line).text;
    // What CLI11 calls the numbers that it reads by itself.
    for (const char* type : {" INT", " UINT", " FLOAT"}) {
      EXPECT_THAT(help, Not(HasSubstr(type))) << testing::PrintToString(line);
    }
  }
}

// Entries of the options in a help text, each in one line.
std::vector<std::string> OptionsIn(const std::string& help) {
  std::vector<std::string> entries;
  std::istringstream lines(help.substr(help.find("Options:\n")));
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    if (line.starts_with("  -")) {
      entries.push_back(line);
    } else if (line.starts_with("   ") && !entries.empty()) {
      entries.back() += line;
    }
  }
  return entries;
}

TEST(ArgumentsTest, EveryOptionTellsWhatItIsWithoutIt) {
  std::vector<std::vector<std::string>> lines;
  CollectCommands({}, lines);
  size_t options = 0;
  for (std::vector<std::string>& line : lines) {
    line.emplace_back("--help");
    for (const std::string& entry : OptionsIn(ParseArguments(line).text)) {
      SCOPED_TRACE(testing::PrintToString(line));
      // A word in capitals behind the name: the option takes a value.
      if (!std::regex_search(entry, std::regex("^  [-a-z,]+ [A-Z]"))) continue;
      if (std::regex_search(entry, std::regex("^  [-a-z,]+ (Exc|Needs)"))) {
        continue;
      }
      EXPECT_THAT(entry, testing::ContainsRegex("REQUIRED|=|default"));
      // CLI11's own words for what it takes say nothing.
      EXPECT_THAT(entry, Not(testing::ContainsRegex("ENUM|:TIME|TEXT:")));
      ++options;
    }
  }
  EXPECT_GT(options, 50u);
}

TEST(ArgumentsTest, NumbersOutOfBoundsAreOneLineAndCodeTwo) {
  const struct {
    std::vector<std::string> words;
    const char* message;
  } cases[] = {
      {{"checkpoint", "create", "a", "--to", "f", "--keep", "-1"},
       "--keep: has to be a whole number from 0 to 1000000, not \"-1\""},
      {{"sample", "m", "--tokens", "-5"},
       "--tokens: has to be a whole number from 1 to 18446744073709551615, not "
       "\"-5\""},
      {{"sample", "m", "--tokens", "010", "--top-p", "1.5"},
       "--top-p: has to be a number from 0 to 1, not \"1.5\""},
      {{"sample", "m", "--temperature", "nan"},
       "--temperature: has to be a number from 0 to 100, not \"nan\""},
      {{"generate", "a", "--prompt", "x", "--seed", "1e6"},
       "--seed: has to be a whole number from 0 to 18446744073709551615, not "
       "\"1e6\""},
      {{"data", "prepare", "x", "--out", "y", "--shard-tokens", "-1"},
       "--shard-tokens: has to be a whole number from 1 to "
       "18446744073709551615, not \"-1\""},
      {{"data", "prepare", "x", "--out", "y", "--validation", "0.9"},
       "--validation: has to be a number from 0 to 0.5, not \"0.9\""},
      {{"events", "a", "--tail", "-3"},
       "--tail: has to be a whole number from 1 to 18446744073709551615, not "
       "\"-3\""},
      {{"simulate", "-f", "j", "--cluster", "c", "--rounds", "0"},
       "--rounds: has to be a whole number from 1 to 1000000, not \"0\""},
      {{"simulate", "-f", "j", "--cluster", "c", "--tau", "6,-1"},
       "--tau: has to be a whole number from 1 to 1000000, not \"-1\""},
      {{"simulate", "-f", "j", "--cluster", "c", "--preempt-every", "1e300"},
       "--preempt-every: 1e300 is no time like 90s or 1h30m"},
      {{"top", "--interval", "inf"},
       "--interval: inf is no time like 90s or 1h30m"},
  };
  for (const auto& one : cases) {
    const Parsed parsed = ParseArguments(one.words);
    EXPECT_FALSE(parsed.line.has_value());
    EXPECT_EQ(parsed.code, ExitCode::kUsage);
    EXPECT_THAT(parsed.text,
                StartsWith(std::string(one.message) + " (see skerryctl "));
    EXPECT_THAT(parsed.text, EndsWith(" --help)\n"));
  }
}

TEST(ArgumentsTest, AMissingCommandIsAnsweredWithThoseThereAre) {
  EXPECT_EQ(ParseArguments({}).text,
            "skerryctl needs a command (see skerryctl --help)\n");
  EXPECT_EQ(ParseArguments({"data"}).text,
            "data needs a command: prepare, import, push, train-tokenizer (see "
            "skerryctl data --help)\n");
  EXPECT_EQ(ParseArguments({"watch", "my-first-run"}).text,
            "watch has no command my-first-run; it has: job (see skerryctl "
            "watch --help)\n");
  EXPECT_EQ(ParseArguments({"data", "prepair"}).text,
            "data has no command prepair; did you mean prepare? (see "
            "skerryctl data --help)\n");
}

TEST(ArgumentsTest, AWrongLineNamesTheHelpOfItsCommand) {
  EXPECT_EQ(ParseArguments({"submit", "job.yaml"}).text,
            "--file is required (see skerryctl submit --help)\n");
  EXPECT_THAT(ParseArguments({"data", "prepare", "--out", "x"}).text,
              EndsWith("(see skerryctl data prepare --help)\n"));
}

TEST(ArgumentsTest, OnlyListsOfWordsAreOfferedAsValues) {
  EXPECT_THAT(
      CompleteArguments({"data", "train-tokenizer", "--kind", ""}).words,
      testing::ElementsAre("gpt2", "llama3"));
  EXPECT_THAT(CompleteArguments({"sample", "m", "--top-k", ""}).words,
              testing::IsEmpty());
  EXPECT_THAT(CompleteArguments({"wait", "job", "a", "--for", "r"}).words,
              testing::ElementsAre("running"));
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
