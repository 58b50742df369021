#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/time/time.h"
#include "base/release.h"
#include "cli/checkpoint_arguments.h"
#include "cli/model_arguments.h"
#include "cli/number_limits.h"
#include "cli/simulate_arguments.h"
#include "cli/view_arguments.h"
#include "cli/word_checks.h"
#include "runtime/command_line/number_option.h"

namespace skerry::cli {
namespace {

constexpr char kFooter[] =
    "Exit codes: 0 ok, 1 internal, 2 usage, 3 not found, 4 conflict,\n"
    "5 denied, 6 unavailable (repeat it), 7 invalid, 8 the followed job\n"
    "failed, 9 it was cancelled, 10 it succeeded and its last state was not\n"
    "saved, 124 the time to wait is over, 130 interrupted.";

class Parser {
 public:
  Parser();
  Parsed Parse(const std::vector<std::string>& words);
  const CLI::App& app() const { return app_; }

 private:
  // A command at the end of the line.
  CLI::App* Leaf(CLI::App* parent, const std::string& name,
                 const std::string& about, Command command);
  CLI::App* JobLeaf(CLI::App* parent, const std::string& name,
                    const std::string& about, Command command);
  CLI::App* Verb(const std::string& name, const std::string& about);
  void AddViews();
  void AddEvents();
  void AddChanges();
  void AddGenerate();
  void AddCheckpoints();
  CLI::App* StateLeaf(CLI::App* parent, const std::string& name,
                      const std::string& about, Command command);
  void AddState();
  void AddWaits();
  void AddWorkerChanges();
  void AddConfig();
  void AddHelp();
  // `where` is the command whose help tells more.
  Parsed Wrong(const std::string& what, const std::string& where) const;
  // What the words mean together; an error text, or nothing.
  std::string Finish();

  CLI::App app_{"Drives a Skerry cluster through its coordinator.",
                "skerryctl"};
  Arguments arguments_;
  double timeout_s_ = 60;
  CLI::Option* coordinator_ = nullptr;
  std::string form_ = "table";
  std::string wait_limit_;
  std::string since_;
  std::string interval_ = "2s";
};

Parser::Parser() {
  // Options of skerryctl may stand behind the command.
  app_.fallthrough();
  app_.set_version_flag("--version",
                        std::string("skerryctl ") + kRelease + "\n");
  coordinator_ = app_.add_option("--coordinator", arguments_.coordinator,
                                 "where the coordinator listens; default: "
                                 "SKERRY_COORDINATOR, else what the context "
                                 "says, else this address")
                     ->type_name("HOST:PORT")
                     ->capture_default_str();
  app_.add_option("--context", arguments_.context,
                  "a cluster that skerryctl config has named; default: the "
                  "current one")
      ->type_name("NAME");
  app_.add_option("-o,--output", form_,
                  "what is printed, one of: table, wide, json, jsonl, yaml, "
                  "name or custom-columns=TITLE:FIELD,..")
      ->type_name("FORM")
      ->capture_default_str()
      ->check(IsForm());
  app_.require_subcommand(1);
  app_.footer(kFooter);
  AddChanges();
  AddViews();
  AddGenerate();
  AddCheckpoints();
  CLI::App* data = Verb("data", "data sets");
  AddDataPrepareOptions(
      Leaf(data, "prepare", "text files to a data set", Command::kDataPrepare),
      arguments_.prepare);
  AddDataImportOptions(
      Leaf(data, "import", "tokens of llm.c, NumPy or Megatron to a data set",
           Command::kDataImport),
      arguments_.import);
  AddTrainTokenizerOptions(
      Leaf(data, "train-tokenizer", "a tokenizer.json out of text files",
           Command::kTrainTokenizer),
      arguments_.tokenizer);
  AddSampleOptions(
      Leaf(&app_, "sample", "texts from a model in a folder", Command::kSample),
      arguments_.sample);
  AddEvaluateOptions(
      Leaf(&app_, "eval", "how well a model predicts text", Command::kEvaluate),
      arguments_.evaluate);
  AddSimulateOptions(
      Leaf(&app_, "simulate", "what a job would come to on another cluster",
           Command::kSimulate),
      arguments_.simulate);
  AddState();
  AddConfig();
  AddHelp();
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
  ListArguments& list = arguments_.list;
  AddListOptions(Leaf(get, "jobs", "all jobs", Command::kGetJobs), list);
  JobLeaf(get, "job", "one job", Command::kGetJob);
  AddListOptions(
      Leaf(get, "workers", "workers and how they are", Command::kGetWorkers),
      list);
  AddListOptions(
      Leaf(get, "islands", "islands and their workers", Command::kGetIslands),
      list);
  CLI::App* describe = Verb("describe", "everything about one thing");
  JobLeaf(describe, "job", "replicas, losses, counters", Command::kDescribeJob);
  Leaf(describe, "worker", "lease, clock, disk, links, events",
       Command::kDescribeWorker)
      ->add_option("WORKER", arguments_.worker, "name of the worker")
      ->required();
  AddDescribeModelOptions(
      Leaf(describe, "model", "what training a config.json would take",
           Command::kDescribeModel),
      arguments_.model);
  JobLeaf(Verb("watch", "follows one thing"), "job",
          "progress until the job ends", Command::kWatchJob);
  AddWaits();
  AddEvents();
  CLI::App* top =
      Leaf(&app_, "top", "jobs and workers as they go on", Command::kTop);
  top->add_option("--interval", interval_, "from one look to the next")
      ->check(IsDuration())
      ->type_name("TIME")
      ->capture_default_str();
  runtime::AddNumber(*top, "--count", arguments_.top.count, {},
                     "looks that it takes; 0 goes on until it is interrupted")
      ->capture_default_str();
  JobLeaf(Verb("audit", "checks what the journal says"), "data",
          "whether every sample was used once", Command::kAuditData);
  Leaf(&app_, "doctor", "looks at everything and says what is wrong",
       Command::kDoctor)
      ->add_option("--state", arguments_.doctor.folders,
                   "state folder of a daemon on this machine; may be repeated; "
                   "default: none")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
}

void Parser::AddEvents() {
  for (const char* name : {"logs", "events"}) {
    CLI::App* leaf =
        Leaf(&app_, name, "the history of a job or a worker", Command::kLogs);
    EventArguments& wanted = arguments_.events;
    CLI::Option* job =
        leaf->add_option("NAME", arguments_.name, "name of the job");
    leaf->add_option("--worker", wanted.worker,
                     "a worker, whose events are shown instead of a job's; "
                     "default: none")
        ->type_name("NAME")
        ->excludes(job);
    CLI::Option* follow =
        leaf->add_flag("-f,--follow", wanted.follow,
                       "go on with what comes until the job ends");
    leaf->add_option("--name", wanted.names,
                     "names of events, with commas between them: only those; "
                     "default: all")
        ->type_name("NAMES")
        ->check(IsOneOf(EventNames()))
        ->delimiter(',')
        ->allow_extra_args(false);
    leaf->add_option("--since", since_,
                     "only those not older than this, as 90s or 10m; default: "
                     "all")
        ->type_name("TIME")
        ->check(IsDuration());
    runtime::AddNumber(*leaf, "--tail", wanted.tail, {.low = 1},
                       "only the newest so many; default: all")
        ->excludes(follow);
  }
}

void Parser::AddWaits() {
  CLI::App* wait = Verb("wait", "until something is as wanted");
  CLI::App* job =
      JobLeaf(wait, "job", "until the job is in a phase", Command::kWaitJob);
  CLI::App* worker = Leaf(wait, "worker", "until the worker is in a state",
                          Command::kWaitWorker);
  worker->add_option("WORKER", arguments_.worker, "name of the worker")
      ->required();
  AddWaitOptions(job, "phase", PhasesToWaitFor(), arguments_.wait, wait_limit_);
  AddWaitOptions(worker, "state", StatesToWaitFor(), arguments_.wait,
                 wait_limit_);
}

void Parser::AddChanges() {
  CLI::App* submit = Leaf(&app_, "submit", "starts a job", Command::kSubmit);
  CLI::App* apply =
      Leaf(&app_, "apply", "starts a job unless it is there", Command::kApply);
  CLI::App* plan =
      Leaf(&app_, "plan", "what submit would lead to, and why", Command::kPlan);
  for (CLI::App* leaf : {submit, apply, plan}) {
    leaf->add_option("-f,--file", arguments_.file,
                     "YAML file of the job; examples/job.yaml is one")
        ->type_name("FILE")
        ->required();
  }
  submit->add_flag("--follow", arguments_.follow,
                   "watch it until it ends; an interrupt leaves it alone");
  for (CLI::App* leaf :
       {JobLeaf(&app_, "cancel", "ends a job", Command::kCancel),
        JobLeaf(Verb("delete", "forgets one thing"), "job",
                "a job that has ended", Command::kDeleteJob)}) {
    leaf->add_flag("-y,--yes", arguments_.sure, "do not ask");
  }
  JobLeaf(&app_, "pause", "holds a job; its state stays where it is",
          Command::kPause);
  JobLeaf(&app_, "resume", "lets a paused job go on", Command::kResume);
  CLI::App* restore = JobLeaf(&app_, "restore", "how a diverged job goes on",
                              Command::kRestore);
  RestoreArguments& wanted = arguments_.restore;
  CLI::Option_group* to = restore->add_option_group("to");
  to->add_flag("--from-workers", wanted.from_workers,
               "with what the workers hold");
  to->add_option("--checkpoint", wanted.checkpoint,
                 "from this checkpoint, or from the `newest`")
      ->type_name("NAME");
  to->require_option(1);
  restore
      ->add_option("--folder", wanted.folder,
                   "of the checkpoints; default: that of the job's file")
      ->type_name("FOLDER");
  AddWorkerChanges();
}

void Parser::AddWorkerChanges() {
  const auto add = [this](const char* name, const char* about,
                          Command command) {
    Leaf(&app_, name, about, command)
        ->add_option("WORKER", arguments_.worker, "name of the worker")
        ->required();
  };
  add("cordon", "gives a worker nothing new", Command::kCordon);
  add("uncordon", "lets a worker serve again", Command::kUncordon);
  add("drain", "lets a worker finish its round and leave its jobs",
      Command::kDrain);
  CLI::App* clean =
      Leaf(&app_, "clean",
           "removes from a worker's disk what it has of jobs that the "
           "coordinator does not know",
           Command::kClean);
  clean->add_option("WORKER", arguments_.worker, "name of the worker")
      ->required();
  clean->add_option("FOLDER", arguments_.folders,
                    "these alone, as `skerryctl describe worker` names them; "
                    "also of jobs that have ended");
  clean->add_flag("-y,--yes", arguments_.sure, "do not ask");
}

void Parser::AddGenerate() {
  CLI::App* generate =
      JobLeaf(&app_, "generate", "text from a job's model", Command::kGenerate);
  GenerateArguments& wanted = arguments_.generate;
  generate->add_option("--prompt", wanted.prompt, "how the text begins")
      ->required();
  runtime::AddNumber(*generate, "--tokens", wanted.tokens, {.low = 1},
                     "tokens to add")
      ->capture_default_str();
  runtime::AddNumber(*generate, "--temperature", wanted.temperature,
                     {0, kTemperatureMax},
                     "0 takes the likeliest token, 1 draws as the model says")
      ->capture_default_str();
  runtime::AddNumber(*generate, "--seed", wanted.seed, {},
                     "seed of the draw: the same one gives the same text")
      ->capture_default_str();
  runtime::AddNumber(*generate, "--timeout", timeout_s_, {0.001, 86400},
                     "give up after so many seconds")
      ->capture_default_str();
}

void Parser::AddCheckpoints() {
  CheckpointArguments& wanted = arguments_.checkpoint;
  CLI::App* verb = Verb("checkpoint", "a job's model in files");
  AddCheckpointCreateOptions(
      JobLeaf(verb, "create", "from what the workers hold, while they go on",
              Command::kCheckpointCreate),
      wanted);
  AddCheckpointListOptions(Leaf(verb, "list", "the checkpoints in a folder",
                                Command::kCheckpointList),
                           wanted);
  AddCheckpointVerifyOptions(
      Leaf(verb, "verify", "reads all and compares hashes",
           Command::kCheckpointVerify),
      wanted);
  AddCheckpointExportOptions(
      Leaf(verb, "export", "a folder that transformers loads",
           Command::kCheckpointExport),
      wanted);
}

CLI::App* Parser::StateLeaf(CLI::App* parent, const std::string& name,
                            const std::string& about, Command command) {
  CLI::App* leaf = Leaf(parent, name, about, command);
  leaf->add_option("--state", arguments_.state.folder,
                   "state folder of a stopped coordinator")
      ->type_name("FOLDER")
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
      ->type_name("FOLDER")
      ->required();
}

void Parser::AddConfig() {
  CLI::App* config = Verb("config", "clusters by name");
  Leaf(config, "get", "the contexts; * is the current one",
       Command::kConfigGet);
  const auto leaf = [&](const char* name, const char* about, Command command) {
    Leaf(config, name, about, command)
        ->add_option("CONTEXT", arguments_.config, "name of the context")
        ->required();
  };
  leaf("set", "makes a context of --coordinator", Command::kConfigSet);
  leaf("use", "makes a context the current one", Command::kConfigUse);
  leaf("delete", "forgets a context", Command::kConfigDelete);
}

void Parser::AddHelp() {
  Leaf(&app_, "explain", "what a field of a job file means", Command::kExplain)
      ->add_option("FIELD", arguments_.field,
                   "as training.tau; default: all fields");
  Leaf(&app_, "completion", "a script for a shell", Command::kCompletion)
      ->add_option("SHELL", arguments_.shell, "one of: bash, zsh or fish")
      ->check(IsOneOf({"bash", "zsh", "fish"}))
      ->required();
}

Parsed Parser::Wrong(const std::string& what, const std::string& where) const {
  std::string line = what;
  std::replace(line.begin(), line.end(), '\n', ' ');
  return {.arguments = std::nullopt,
          .text = line + " (see " + where + " --help)\n",
          .code = ExitCode::kUsage};
}

std::string Parser::Finish() {
  const char* given = std::getenv("SKERRY_COORDINATOR");
  arguments_.coordinator_given = coordinator_->count() > 0;
  if (!arguments_.coordinator_given && arguments_.context.empty() &&
      given != nullptr && *given != '\0') {
    arguments_.coordinator = given;
    arguments_.coordinator_given = true;
  }
  if (arguments_.command == Command::kConfigSet && coordinator_->count() == 0) {
    return "config set: --coordinator is required";
  }
  arguments_.form = ReadForm(form_, &arguments_.list.columns);
  if (arguments_.command == Command::kLogs && arguments_.name.empty() &&
      arguments_.events.worker.empty()) {
    return "events: NAME of a job or --worker is required";
  }
  if (!HasForm(arguments_.command, arguments_.form)) {
    return "-o: this command does not print that form";
  }
  // For the hint when there is none of that name.
  if (!arguments_.events.worker.empty()) {
    arguments_.worker = arguments_.events.worker;
  }
  arguments_.form = SeenForm(arguments_.command, arguments_.form);
  arguments_.generate.job = arguments_.name;
  arguments_.checkpoint.job = arguments_.name;
  arguments_.generate.timeout = absl::Seconds(timeout_s_);
  // They were checked, and those not given keep what they had.
  ReadDuration(wait_limit_, &arguments_.wait.limit);
  ReadDuration(since_, &arguments_.events.since);
  ReadDuration(interval_, &arguments_.top.interval);
  return "";
}

Parsed Parser::Parse(const std::vector<std::string>& words) {
  // CLI11 takes the words from the back, and speaks in exceptions; they end
  // here.
  try {
    app_.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    return {.arguments = std::nullopt, .text = app_.help()};
  } catch (const CLI::CallForVersion& version) {
    return {.arguments = std::nullopt, .text = version.what()};
  } catch (const CLI::ParseError& error) {
    const std::string wrong = ExplainWrongCommand(app_, words);
    return Wrong(wrong.empty() ? error.what() : wrong,
                 TypedCommand(app_, words));
  }
  const std::string problem = Finish();
  if (!problem.empty()) return Wrong(problem, TypedCommand(app_, words));
  return {.arguments = arguments_, .text = ""};
}

}  // namespace

Parsed ParseArguments(std::vector<std::string> words) {
  // Words that are no line yet.
  if (!words.empty() && words.front() == "__complete") {
    Parsed parsed{.arguments = Arguments(), .text = ""};
    parsed.arguments->command = Command::kComplete;
    parsed.arguments->half.assign(words.begin() + 1, words.end());
    return parsed;
  }
  return Parser().Parse(words);
}

Completion CompleteArguments(const std::vector<std::string>& words) {
  return CompleteLine(Parser().app(), words);
}

}  // namespace skerry::cli
