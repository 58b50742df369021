// Every row of the table, and what the commands' own options become.
#include "cli/command_table.h"

#include <algorithm>
#include <any>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "cli/arguments.h"
#include "cli/commands/checkpoint.h"
#include "cli/commands/data_import.h"
#include "cli/commands/data_prepare.h"
#include "cli/commands/end_job.h"
#include "cli/commands/evaluate.h"
#include "cli/commands/events.h"
#include "cli/commands/generate.h"
#include "cli/commands/sample.h"
#include "cli/commands/top.h"
#include "cli/commands/wait.h"
#include "cli/shared_options.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using testing::ElementsAre;

CommandLine Good(const std::vector<std::string>& words) {
  const Parsed parsed = ParseArguments(words);
  EXPECT_TRUE(parsed.line.has_value()) << parsed.text;
  return parsed.line.value_or(CommandLine{});
}

// The arguments of the command that `words` are a line of.
template <typename Arguments>
Arguments GoodFor(const std::vector<std::string>& words) {
  const CommandLine line = Good(words);
  const auto* arguments = std::any_cast<Arguments>(&line.arguments);
  EXPECT_NE(arguments, nullptr) << testing::PrintToString(words);
  return arguments == nullptr ? Arguments{} : *arguments;
}

using Line = std::pair<std::vector<std::string>, std::string>;

// Those about who takes part in which cluster.
std::vector<Line> LinesAboutClusters() {
  return {
      {{"token", "create", "--island", "west", "--ttl", "2h", "--uses", "3",
        "--worker", "w*", "--print-join-command"},
       "token create"},
      {{"token", "list"}, "token list"},
      {{"token", "delete", "abcdef"}, "token delete"},
      {{"forget", "worker", "w1"}, "forget worker"},
      {{"revoke", "worker/w1", "--reason", "stolen"}, "revoke"},
      {{"revocation", "list"}, "revocation list"},
      {{"revocation", "lift", "worker/w1"}, "revocation lift"},
      {{"operator", "create", "eve", "--role", "viewer", "--days", "3"},
       "operator create"},
      {{"config", "import", "eve.yaml", "--name", "lab"}, "config import"},
      {{"config", "get"}, "config get"},
      {{"config", "set", "c", "--coordinator", "127.0.0.1:1"}, "config set"},
      {{"config", "use", "c"}, "config use"},
      {{"config", "delete", "c"}, "config delete"},
  };
}

// Lines, and the words of their commands.
std::vector<Line> Lines() {
  std::vector<Line> lines = LinesAboutClusters();
  const Line others[] = {
      {{"submit", "-f", "job.yaml"}, "submit"},
      {{"get", "jobs"}, "get jobs"},
      {{"get", "job", "a"}, "get job"},
      {{"get", "workers"}, "get workers"},
      {{"get", "islands"}, "get islands"},
      {{"describe", "job", "a"}, "describe job"},
      {{"describe", "model", "config.json", "--samples", "2"},
       "describe model"},
      {{"describe", "model", "config.json", "--stages", "2"}, "describe model"},
      {{"simulate", "-f", "job.yaml", "--cluster", "cluster.yaml", "--tau",
        "6,12"},
       "simulate"},
      {{"watch", "job", "a"}, "watch job"},
      {{"logs", "a", "-f"}, "logs"},
      {{"events", "a", "--name", "Committed"}, "events"},
      {{"events", "--worker", "w", "-f"}, "events"},
      {{"describe", "worker", "w"}, "describe worker"},
      {{"submit", "--follow", "-f", "job.yaml"}, "submit"},
      {{"apply", "-f", "job.yaml"}, "apply"},
      {{"delete", "job", "a", "-y"}, "delete job"},
      {{"get", "jobs", "-l", "owner=a", "--sort-by", "id", "--no-headers"},
       "get jobs"},
      {{"doctor"}, "doctor"},
      {{"doctor", "--state", "x", "--state", "y"}, "doctor"},
      {{"cancel", "a"}, "cancel"},
      {{"plan", "-f", "job.yaml"}, "plan"},
      {{"pause", "a"}, "pause"},
      {{"resume", "a"}, "resume"},
      {{"restore", "a", "--from-workers"}, "restore"},
      {{"cordon", "w"}, "cordon"},
      {{"uncordon", "w"}, "uncordon"},
      {{"drain", "w"}, "drain"},
      {{"clean", "w"}, "clean"},
      {{"clean", "w", "a", "b", "-y"}, "clean"},
      {{"wait", "job", "a", "--for", "ended"}, "wait job"},
      {{"wait", "worker", "w", "--for", "drained"}, "wait worker"},
      {{"top"}, "top"},
      {{"explain"}, "explain"},
      {{"explain", "training.tau"}, "explain"},
      {{"explain", "data", "-o", "json"}, "explain"},
      {{"completion", "bash"}, "completion"},
      {{"__complete", "get", "-"}, "__complete"},
      {{"audit", "data", "a"}, "audit data"},
      {{"generate", "a", "--prompt", "In the"}, "generate"},
      {{"data", "import", "x", "--out", "z"}, "data import"},
      {{"data", "prepare", "x", "y", "--out", "z"}, "data prepare"},
      {{"data", "push", "x", "s3://lab@runs/x"}, "data push"},
      {{"data", "train-tokenizer", "x", "--out", "z", "--special", "<e>"},
       "data train-tokenizer"},
      {{"sample", "m", "--prompt", "x"}, "sample"},
      {{"eval", "m", "--text", "x"}, "eval"},
      {{"checkpoint", "create", "a", "--to", "f"}, "checkpoint create"},
      {{"checkpoint", "list", "f"}, "checkpoint list"},
      {{"checkpoint", "verify", "f"}, "checkpoint verify"},
      {{"checkpoint", "export", "f", "--out", "o"}, "checkpoint export"},
      {{"state", "export", "--state", "d"}, "state export"},
      {{"state", "verify", "--state", "d"}, "state verify"},
      {{"state", "backup", "--state", "d", "--to", "e"}, "state backup"},
      {{"version"}, "version"},
  };
  lines.insert(lines.end(), std::begin(others), std::end(others));
  return lines;
}

TEST(CommandTableTest, WrongLinesAboutWhoMayTakePartAreRefused) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"token", "create"},
        {"token", "create", "--island", "a", "--ttl", "soon"},
        {"token", "create", "--island", "a", "--uses", "0"},
        {"operator", "create", "eve"},
        {"operator", "create", "eve", "--role", "root"}}) {
    EXPECT_FALSE(ParseArguments(wrong).line.has_value());
  }
}

TEST(CommandTableTest, EveryCommandIsKnown) {
  for (const auto& [words, command] : Lines()) {
    SCOPED_TRACE(testing::PrintToString(words));
    ASSERT_NE(Good(words).command, nullptr);
    EXPECT_EQ(Good(words).command->words, command);
  }
  const std::vector<Line> lines = Lines();
  for (const Command& command : Commands()) {
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [&](const auto& line) {
      return line.second == command.words;
    })) << command.words;
  }
}

TEST(CommandTableTest, ACheckpointIsDescribed) {
  const auto create = GoodFor<CheckpointArguments>(
      {"checkpoint", "create", "bible", "--to", "/c", "--keep", "3"});
  EXPECT_EQ(create.job, "bible");
  EXPECT_EQ(create.folder, "/c");
  EXPECT_EQ(create.keep, 3u);
  const auto exported = GoodFor<CheckpointArguments>(
      {"checkpoint", "export", "/c", "--out", "/o", "--dtype", "bf16", "--name",
       "checkpoint-7", "--file-bytes", "1000"});
  EXPECT_EQ(exported.folder, "/c");
  EXPECT_EQ(exported.out, "/o");
  EXPECT_EQ(exported.name, "checkpoint-7");
  EXPECT_EQ(exported.dtype, model::Dtype::kBf16);
  EXPECT_EQ(exported.file_bytes_max, 1000u);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"checkpoint", "create", "bible"},
           {"checkpoint", "export", "/c"},
           {"checkpoint", "list"},
           {"checkpoint", "export", "/c", "--out", "/o", "--dtype", "i8"}}) {
    EXPECT_EQ(ParseArguments(words).code, ExitCode::kUsage);
  }
}

TEST(CommandTableTest, TimesAreSecondsOrHaveUnits) {
  EXPECT_EQ(
      GoodFor<WaitArguments>({"wait", "job", "a", "--for", "ended"}).limit,
      absl::InfiniteDuration());
  EXPECT_EQ(GoodFor<WaitArguments>(
                {"wait", "job", "a", "--for", "ended", "--timeout", "90"})
                .limit,
            absl::Seconds(90));
  EXPECT_EQ(GoodFor<EventArguments>({"events", "a", "--since", "1h30m"}).since,
            absl::Minutes(90));
  EXPECT_EQ(GoodFor<TopArguments>({"top", "--interval", "0.5"}).interval,
            absl::Milliseconds(500));
}

TEST(CommandTableTest, GenerateTakesItsNumbers) {
  const auto generate = GoodFor<GenerateArguments>(
      {"generate", "a", "--prompt", "In the", "--tokens", "5", "--temperature",
       "0", "--seed", "9", "--timeout", "1.5"});
  EXPECT_EQ(generate.job, "a");
  EXPECT_EQ(generate.prompt, "In the");
  EXPECT_EQ(generate.tokens, 5u);
  EXPECT_EQ(generate.temperature, 0);
  EXPECT_EQ(generate.seed, 9u);
  EXPECT_EQ(generate.timeout_s, 1.5);
}

TEST(CommandTableTest, DataPrepareTakesItsFiles) {
  const auto prepare = GoodFor<DataPrepareArguments>(
      {"data", "prepare", "x", "y", "--out", "z", "--validation", "0.1",
       "--tokenizer", "t.json", "--document-end", "<e>", "--json-key", "body",
       "--threads", "3", "--shard-tokens", "7"});
  EXPECT_EQ(prepare.set.encoding.tokenizer, "t.json");
  EXPECT_EQ(prepare.set.encoding.document_end, "<e>");
  EXPECT_EQ(prepare.set.lines.key, "body");
  EXPECT_THAT(prepare.set.inputs, ElementsAre("x", "y"));
  EXPECT_EQ(prepare.set.output_directory, "z");
  EXPECT_EQ(prepare.set.validation_fraction, 0.1);
  EXPECT_EQ(prepare.threads, 3);
  EXPECT_EQ(prepare.set.shard_tokens_max, 7u);
}

TEST(CommandTableTest, DataPrepareIsToldWhatItsInputsAre) {
  const auto prepare = GoodFor<DataPrepareArguments>(
      {"data", "prepare", "-", "--out", "z", "--bad-lines", "skip", "--format",
       "jsonl", "--special-tokens", "as-text"});
  EXPECT_THAT(prepare.set.inputs, ElementsAre("-"));
  EXPECT_EQ(prepare.set.lines.bad_lines, data::BadLines::kSkip);
  EXPECT_EQ(prepare.set.kind, data::TextKind::kJsonLines);
  EXPECT_EQ(prepare.set.encoding.written_specials,
            data::TokenizerFile::WrittenSpecials::kText);
}

TEST(CommandTableTest, DataImportTakesItsFiles) {
  const auto import = GoodFor<DataImportOptions>(
      {"data", "import", "a.bin", "--validation-input", "v.npy",
       "--validation-input", "w.npy", "b.idx", "--out", "z", "--vocab-size",
       "500", "--shard-tokens", "10"});
  EXPECT_THAT(import.inputs, ElementsAre("a.bin", "b.idx"));
  EXPECT_THAT(import.validation_inputs, ElementsAre("v.npy", "w.npy"));
  EXPECT_EQ(import.vocab_size, 500);
  EXPECT_EQ(import.shard_tokens_max, 10u);
}

TEST(CommandTableTest, SampleTakesSeveralPromptsAndStops) {
  const auto sample = GoodFor<SampleArguments>(
      {"sample", "m", "--prompt", "a", "--prompt", "b c", "--stop", "x",
       "--stop", "y", "--top-k", "5", "--top-p", "0.9", "--threads", "2"});
  EXPECT_EQ(sample.model.folder, "m");
  EXPECT_THAT(sample.prompts, ElementsAre("a", "b c"));
  EXPECT_THAT(sample.stops, ElementsAre("x", "y"));
  EXPECT_EQ(sample.top_k, 5);
  EXPECT_EQ(sample.top_p, 0.9);
  EXPECT_EQ(sample.model.threads, 2);
}

TEST(CommandTableTest, EvalTakesItsData) {
  const auto evaluate = GoodFor<EvaluateArguments>(
      {"eval", "m", "--data", "d", "--split", "train", "--samples", "3"});
  EXPECT_EQ(evaluate.model.folder, "m");
  EXPECT_EQ(evaluate.data, "d");
  EXPECT_EQ(evaluate.split, "train");
  EXPECT_EQ(evaluate.samples, 3u);
}

TEST(CommandTableTest, AJobMayHaveTheNameOfACommand) {
  for (const char* name : {"top", "data", "get", "explain", "version"}) {
    EXPECT_EQ(GoodFor<EndJobArguments>({"cancel", name}).name, name);
    const std::vector<std::string> get = {"get", "job", name, "-o", "json"};
    EXPECT_EQ(Good(get).command->words, "get job");
    EXPECT_EQ(GoodFor<JobArguments>(get).name, name);
    EXPECT_EQ(
        GoodFor<WaitArguments>({"wait", "job", name, "--for", "ended"}).name,
        name);
  }
}

TEST(CommandTableTest, TheJobAndTheWorkerOfALineAreKnown) {
  EXPECT_EQ(Good({"cancel", "a"}).job, "a");
  EXPECT_EQ(Good({"checkpoint", "create", "a", "--to", "f"}).job, "a");
  EXPECT_EQ(Good({"wait", "worker", "w", "--for", "lost"}).worker, "w");
  EXPECT_EQ(Good({"events", "--worker", "w"}).worker, "w");
  EXPECT_EQ(Good({"events", "--worker=w"}).job, "");
  EXPECT_EQ(Good({"clean", "w", "folder"}).worker, "w");
  EXPECT_EQ(Good({"config", "use", "c"}).job, "");
}

}  // namespace
}  // namespace skerry::cli
