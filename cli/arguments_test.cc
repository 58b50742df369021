#include "cli/arguments.h"

#include <stdlib.h>

#include <regex>
#include <sstream>
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
using testing::StartsWith;

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
      {{"describe", "model", "config.json", "--stages", "2"},
       Command::kDescribeModel},
      {{"simulate", "-f", "job.yaml", "--cluster", "cluster.yaml", "--tau",
        "6,12"},
       Command::kSimulate},
      {{"watch", "job", "a"}, Command::kWatchJob},
      {{"logs", "a", "-f"}, Command::kLogs},
      {{"events", "a", "--name", "Committed"}, Command::kLogs},
      {{"events", "--worker", "w", "-f"}, Command::kLogs},
      {{"describe", "worker", "w"}, Command::kDescribeWorker},
      {{"submit", "--follow", "-f", "job.yaml"}, Command::kSubmit},
      {{"apply", "-f", "job.yaml"}, Command::kApply},
      {{"delete", "job", "a", "-y"}, Command::kDeleteJob},
      {{"get", "jobs", "-l", "owner=a", "--sort-by", "id", "--no-headers"},
       Command::kGetJobs},
      {{"doctor"}, Command::kDoctor},
      {{"doctor", "--state", "x", "--state", "y"}, Command::kDoctor},
      {{"cancel", "a"}, Command::kCancel},
      {{"plan", "-f", "job.yaml"}, Command::kPlan},
      {{"pause", "a"}, Command::kPause},
      {{"resume", "a"}, Command::kResume},
      {{"restore", "a", "--from-workers"}, Command::kRestore},
      {{"cordon", "w"}, Command::kCordon},
      {{"uncordon", "w"}, Command::kUncordon},
      {{"drain", "w"}, Command::kDrain},
      {{"wait", "job", "a", "--for", "ended"}, Command::kWaitJob},
      {{"wait", "worker", "w", "--for", "drained"}, Command::kWaitWorker},
      {{"top"}, Command::kTop},
      {{"explain"}, Command::kExplain},
      {{"explain", "training.tau"}, Command::kExplain},
      {{"explain", "data", "-o", "json"}, Command::kExplain},
      {{"config", "get"}, Command::kConfigGet},
      {{"config", "set", "c", "--coordinator", "127.0.0.1:1"},
       Command::kConfigSet},
      {{"config", "use", "c"}, Command::kConfigUse},
      {{"config", "delete", "c"}, Command::kConfigDelete},
      {{"completion", "bash"}, Command::kCompletion},
      {{"__complete", "get", "-"}, Command::kComplete},
      {{"audit", "data", "a"}, Command::kAuditData},
      {{"generate", "a", "--prompt", "In the"}, Command::kGenerate},
      {{"data", "import", "x", "--out", "z"}, Command::kDataImport},
      {{"data", "prepare", "x", "y", "--out", "z"}, Command::kDataPrepare},
      {{"data", "train-tokenizer", "x", "--out", "z", "--special", "<e>"},
       Command::kTrainTokenizer},
      {{"sample", "m", "--prompt", "x"}, Command::kSample},
      {{"eval", "m", "--text", "x"}, Command::kEvaluate},
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

TEST(ArgumentsTest, AJobMayHaveTheNameOfACommand) {
  for (const char* name : {"top", "data", "get", "explain", "version"}) {
    EXPECT_EQ(Good({"cancel", name}).name, name);
    const Arguments get = Good({"get", "job", name, "-o", "json"});
    EXPECT_EQ(get.command, Command::kGetJob);
    EXPECT_EQ(get.name, name);
    EXPECT_EQ(Good({"wait", "job", name, "--for", "ended"}).name, name);
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

TEST(ArgumentsTest, AContextWinsOverTheEnvironmentAndTheFlagOverBoth) {
  setenv("SKERRY_COORDINATOR", "127.0.0.1:2", 1);
  EXPECT_TRUE(Good({"get", "jobs"}).coordinator_given);
  const Arguments context = Good({"get", "jobs", "--context", "lab"});
  EXPECT_EQ(context.context, "lab");
  EXPECT_FALSE(context.coordinator_given);
  EXPECT_TRUE(
      Good({"get", "jobs", "--context", "lab", "--coordinator", "127.0.0.1:3"})
          .coordinator_given);
  unsetenv("SKERRY_COORDINATOR");
  EXPECT_FALSE(Good({"get", "jobs"}).coordinator_given);
}

TEST(ArgumentsTest, FormsBelongToTheCommandsThatHaveThem) {
  EXPECT_EQ(Good({"get", "jobs", "-o", "wide"}).form, OutputForm::kWide);
  EXPECT_EQ(Good({"cancel", "a", "-o", "name"}).form, OutputForm::kName);
  EXPECT_EQ(Good({"watch", "job", "a", "-o", "yaml"}).form, OutputForm::kYaml);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"watch", "job", "a", "-o", "wide"},
           {"describe", "job", "a", "-o", "name"},
           {"top", "-o", "json"}}) {
    SCOPED_TRACE(testing::PrintToString(words));
    EXPECT_EQ(ParseArguments(words).code, ExitCode::kUsage);
  }
}

TEST(ArgumentsTest, TimesAreSecondsOrHaveUnits) {
  EXPECT_EQ(Good({"wait", "job", "a", "--for", "ended"}).wait.limit,
            absl::InfiniteDuration());
  EXPECT_EQ(Good({"wait", "job", "a", "--for", "ended", "--timeout", "90"})
                .wait.limit,
            absl::Seconds(90));
  EXPECT_EQ(Good({"events", "a", "--since", "1h30m"}).events.since,
            absl::Minutes(90));
  EXPECT_EQ(Good({"top", "--interval", "0.5"}).top.interval,
            absl::Milliseconds(500));
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
  const DataPrepareArguments prepare =
      Good({"data", "prepare", "x", "y", "--out", "z", "--validation", "0.1",
            "--tokenizer", "t.json", "--document-end", "<e>", "--json-key",
            "body", "--threads", "3", "--shard-tokens", "7"})
          .prepare;
  EXPECT_EQ(prepare.set.encoding.tokenizer, "t.json");
  EXPECT_EQ(prepare.set.encoding.document_end, "<e>");
  EXPECT_EQ(prepare.set.lines.key, "body");
  EXPECT_THAT(prepare.set.inputs, ElementsAre("x", "y"));
  EXPECT_EQ(prepare.set.output_directory, "z");
  EXPECT_EQ(prepare.set.validation_fraction, 0.1);
  EXPECT_EQ(prepare.threads, 3);
  EXPECT_EQ(prepare.set.shard_tokens_max, 7u);
}

TEST(ArgumentsTest, DataPrepareIsToldWhatItsInputsAre) {
  const DataPrepareArguments prepare =
      Good({"data", "prepare", "-", "--out", "z", "--bad-lines", "skip",
            "--format", "jsonl", "--special-tokens", "as-text"})
          .prepare;
  EXPECT_THAT(prepare.set.inputs, ElementsAre("-"));
  EXPECT_EQ(prepare.set.lines.bad_lines, data::BadLines::kSkip);
  EXPECT_EQ(prepare.set.kind, data::TextKind::kJsonLines);
  EXPECT_EQ(prepare.set.encoding.written_specials,
            data::TokenizerFile::WrittenSpecials::kText);
}

TEST(ArgumentsTest, DataImportTakesItsFiles) {
  const DataImportOptions import =
      Good({"data", "import", "a.bin", "--validation-input", "v.npy",
            "--validation-input", "w.npy", "b.idx", "--out", "z",
            "--vocab-size", "500", "--shard-tokens", "10"})
          .import;
  EXPECT_THAT(import.inputs, ElementsAre("a.bin", "b.idx"));
  EXPECT_THAT(import.validation_inputs, ElementsAre("v.npy", "w.npy"));
  EXPECT_EQ(import.vocab_size, 500);
  EXPECT_EQ(import.shard_tokens_max, 10u);
}

TEST(ArgumentsTest, SampleTakesSeveralPromptsAndStops) {
  const SampleArguments sample =
      Good({"sample", "m", "--prompt", "a", "--prompt", "b c", "--stop", "x",
            "--stop", "y", "--top-k", "5", "--top-p", "0.9", "--threads", "2"})
          .sample;
  EXPECT_EQ(sample.model.folder, "m");
  EXPECT_THAT(sample.prompts, ElementsAre("a", "b c"));
  EXPECT_THAT(sample.stops, ElementsAre("x", "y"));
  EXPECT_EQ(sample.top_k, 5);
  EXPECT_EQ(sample.top_p, 0.9);
  EXPECT_EQ(sample.model.threads, 2);
}

TEST(ArgumentsTest, EvalTakesItsData) {
  const EvaluateArguments evaluate =
      Good({"eval", "m", "--data", "d", "--split", "train", "--samples", "3"})
          .evaluate;
  EXPECT_EQ(evaluate.model.folder, "m");
  EXPECT_EQ(evaluate.data, "d");
  EXPECT_EQ(evaluate.split, "train");
  EXPECT_EQ(evaluate.samples, 3u);
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
    EXPECT_FALSE(parsed.arguments.has_value());
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
    if (!ParseArguments({longer.begin(), longer.end()}).arguments.has_value() ||
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
    EXPECT_FALSE(parsed.arguments.has_value());
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
            "data needs a command: prepare, import, train-tokenizer (see "
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
