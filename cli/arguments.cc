#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <utility>

#include "base/release.h"

namespace skerry::cli {
namespace {

constexpr char kFooter[] =
    "Exit codes: 0 ok, 1 internal, 2 usage, 3 not found, 4 conflict,\n"
    "5 denied, 6 unavailable (repeat it), 7 invalid, 8 the followed job\n"
    "failed, 9 it was cancelled, 130 interrupted.";

class Parser {
 public:
  Parser();
  Parsed Parse(std::vector<std::string> words);

 private:
  // A command at the end of the line.
  CLI::App* Leaf(CLI::App* parent, const std::string& name,
                 const std::string& about, Command command);
  CLI::App* JobLeaf(CLI::App* parent, const std::string& name,
                    const std::string& about, Command command);
  CLI::App* Verb(const std::string& name, const std::string& about);
  void AddViews();
  void AddDescribeModel(CLI::App* describe);
  void AddChanges();
  void AddGenerate();
  void AddCheckpoints();
  void AddData();
  CLI::App* StateLeaf(CLI::App* parent, const std::string& name,
                      const std::string& about, Command command);
  void AddState();

  CLI::App app_{"Drives a Skerry cluster through its coordinator.",
                "skerryctl"};
  Arguments arguments_;
  double timeout_s_ = 60;
};

Parser::Parser() {
  // Options of skerryctl may stand behind the command.
  app_.fallthrough();
  app_.set_version_flag("--version",
                        std::string("skerryctl ") + kRelease + "\n");
  app_.add_option("--coordinator", arguments_.coordinator,
                  "host:port of the coordinator")
      ->envname("SKERRY_COORDINATOR")
      ->capture_default_str();
  const std::map<std::string, OutputForm> forms = {
      {"table", OutputForm::kTable}, {"json", OutputForm::kJson}};
  app_.add_option("-o,--output", arguments_.form, "table or json")
      ->transform(CLI::Transformer(forms))
      ->check(CLI::IsMember(
          std::vector<OutputForm>{OutputForm::kTable, OutputForm::kJson}));
  app_.require_subcommand(1);
  app_.footer(kFooter);
  AddChanges();
  AddViews();
  AddGenerate();
  AddCheckpoints();
  AddData();
  AddState();
  Leaf(&app_, "version", "releases of skerryctl and of the coordinator",
       Command::kVersion);
}

CLI::App* Parser::Verb(const std::string& name, const std::string& about) {
  CLI::App* verb = app_.add_subcommand(name, about);
  verb->require_subcommand(1);
  return verb;
}

CLI::App* Parser::Leaf(CLI::App* parent, const std::string& name,
                       const std::string& about, Command command) {
  CLI::App* leaf = parent->add_subcommand(name, about);
  leaf->callback([this, command] { arguments_.command = command; });
  return leaf;
}

CLI::App* Parser::JobLeaf(CLI::App* parent, const std::string& name,
                          const std::string& about, Command command) {
  CLI::App* leaf = Leaf(parent, name, about, command);
  leaf->add_option("NAME", arguments_.name, "name of the job")->required();
  return leaf;
}

void Parser::AddViews() {
  CLI::App* get = Verb("get", "lists");
  Leaf(get, "jobs", "all jobs", Command::kGetJobs);
  JobLeaf(get, "job", "one job", Command::kGetJob);
  Leaf(get, "workers", "workers and how they are", Command::kGetWorkers);
  Leaf(get, "islands", "islands and their workers", Command::kGetIslands);
  CLI::App* describe = Verb("describe", "everything about one thing");
  JobLeaf(describe, "job", "replicas, losses, counters", Command::kDescribeJob);
  AddDescribeModel(describe);
  JobLeaf(Verb("watch", "follows one thing"), "job",
          "progress until the job ends", Command::kWatchJob);
  JobLeaf(&app_, "logs", "a job's history", Command::kLogs)
      ->add_flag("-f,--follow", arguments_.follow, "until the job ends");
  JobLeaf(Verb("audit", "checks what the journal says"), "data",
          "whether every sample was used once", Command::kAuditData);
}

void Parser::AddDescribeModel(CLI::App* describe) {
  CLI::App* leaf =
      Leaf(describe, "model", "what training a config.json would take",
           Command::kDescribeModel);
  DescribeModelArguments& wanted = arguments_.model;
  leaf->add_option("FILE", wanted.file, "a Hugging Face config.json")
      ->required();
  leaf->add_option("--samples", wanted.samples, "of a micro-batch")
      ->capture_default_str();
  leaf->add_option("--tokens", wanted.tokens,
                   "of a sample; the model's context when not given");
  leaf->add_option("--threads", wanted.threads, "of the trainer")
      ->capture_default_str();
}

void Parser::AddChanges() {
  Leaf(&app_, "submit", "starts a job", Command::kSubmit)
      ->add_option("-f,--file", arguments_.file, "YAML file of the job")
      ->required();
  JobLeaf(&app_, "cancel", "ends a job", Command::kCancel);
}

void Parser::AddGenerate() {
  CLI::App* generate =
      JobLeaf(&app_, "generate", "text from a job's model", Command::kGenerate);
  GenerateArguments& wanted = arguments_.generate;
  generate->add_option("--prompt", wanted.prompt, "how the text begins")
      ->required();
  generate->add_option("--tokens", wanted.tokens, "how many to add")
      ->capture_default_str();
  generate
      ->add_option("--temperature", wanted.temperature,
                   "0 takes the likeliest token")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  generate->add_option("--seed", wanted.seed, "of the draw")
      ->capture_default_str();
  generate->add_option("--timeout", timeout_s_, "seconds to wait")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void Parser::AddCheckpoints() {
  CheckpointArguments& wanted = arguments_.checkpoint;
  CLI::App* verb = Verb("checkpoint", "a job's model in files");
  const auto leaf = [&](const char* name, const char* about, Command command) {
    return Leaf(verb, name, about, command);
  };
  CLI::App* create =
      leaf("create", "from what the workers hold, while they go on",
           Command::kCheckpointCreate);
  create->add_option("NAME", arguments_.name, "name of the job")->required();
  create->add_option("--to", wanted.folder, "folder of this job's checkpoints")
      ->required();
  create->add_option("--keep", wanted.keep, "keep this many, 0 keeps all")
      ->capture_default_str();
  CLI::App* list =
      leaf("list", "the checkpoints in a folder", Command::kCheckpointList);
  CLI::App* verify = leaf("verify", "reads all and compares hashes",
                          Command::kCheckpointVerify);
  CLI::App* exported = leaf("export", "a folder that transformers loads",
                            Command::kCheckpointExport);
  for (CLI::App* app : {list, verify, exported}) {
    app->add_option("FOLDER", wanted.folder, "where `create` put them")
        ->required();
  }
  verify->add_option("--name", wanted.name, "one of them; all when not given");
  exported->add_option("--name", wanted.name,
                       "one of them; the newest when not given");
  exported->add_option("--out", wanted.out, "folder to make")->required();
  const std::map<std::string, model::Dtype> dtypes = {
      {"f32", model::Dtype::kF32},
      {"bf16", model::Dtype::kBf16},
      {"f16", model::Dtype::kF16}};
  exported->add_option("--dtype", wanted.dtype, "f32, bf16 or f16")
      ->transform(CLI::CheckedTransformer(dtypes));
  exported
      ->add_option("--file-bytes", wanted.file_bytes_max,
                   "bytes of weights in one file, at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void Parser::AddData() {
  CLI::App* prepare = Leaf(Verb("data", "data sets"), "prepare",
                           "text files to a data set", Command::kDataPrepare);
  DataPrepareOptions& wanted = arguments_.prepare;
  prepare->add_option("INPUT", wanted.inputs, "text files, in this order")
      ->required();
  // Not `-o`, which is the form of what is printed.
  prepare->add_option("--out", wanted.output_directory, "folder to make")
      ->required();
  prepare
      ->add_option("--validation", wanted.validation_fraction,
                   "share kept for validation")
      ->capture_default_str();
  prepare
      ->add_option("--shard-tokens", wanted.shard_tokens_max,
                   "tokens a shard, at most")
      ->capture_default_str();
}

CLI::App* Parser::StateLeaf(CLI::App* parent, const std::string& name,
                            const std::string& about, Command command) {
  CLI::App* leaf = Leaf(parent, name, about, command);
  leaf->add_option("--state", arguments_.state.folder,
                   "state folder of a stopped coordinator")
      ->required();
  return leaf;
}

void Parser::AddState() {
  CLI::App* state =
      Verb("state", "the journal of a coordinator that is stopped");
  StateLeaf(state, "export", "what it holds, as JSON", Command::kStateExport)
      ->add_flag("--records", arguments_.state.records,
                 "records instead of what they come to");
  StateLeaf(state, "verify", "whether it is whole, and its state hash",
            Command::kStateVerify);
  StateLeaf(state, "backup", "copies it to one checked file",
            Command::kStateBackup)
      ->add_option("--to", arguments_.state.to, "folder to make")
      ->required();
}

Parsed Parser::Parse(std::vector<std::string> words) {
  // CLI11 takes the words from the back.
  std::reverse(words.begin(), words.end());
  // It speaks in exceptions; they end here.
  try {
    app_.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return {.arguments = std::nullopt, .text = app_.help()};
  } catch (const CLI::CallForVersion& version) {
    return {.arguments = std::nullopt, .text = version.what()};
  } catch (const CLI::ParseError& error) {
    std::string what = error.what();
    std::replace(what.begin(), what.end(), '\n', ' ');
    return {.arguments = std::nullopt,
            .text = what + " (see skerryctl --help)\n",
            .code = ExitCode::kUsage};
  }
  arguments_.generate.job = arguments_.name;
  arguments_.checkpoint.job = arguments_.name;
  arguments_.generate.timeout = absl::Seconds(timeout_s_);
  return {.arguments = arguments_, .text = ""};
}

}  // namespace

Parsed ParseArguments(std::vector<std::string> words) {
  return Parser().Parse(std::move(words));
}

}  // namespace skerry::cli
