// skerryctl: the operator's tool.
#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/commands/change.h"
#include "cli/commands/checkpoint.h"
#include "cli/commands/clean.h"
#include "cli/commands/complete.h"
#include "cli/commands/config.h"
#include "cli/commands/data_import.h"
#include "cli/commands/data_prepare.h"
#include "cli/commands/describe_model.h"
#include "cli/commands/detach.h"
#include "cli/commands/doctor.h"
#include "cli/commands/evaluate.h"
#include "cli/commands/follow.h"
#include "cli/commands/generate.h"
#include "cli/commands/plan.h"
#include "cli/commands/restore.h"
#include "cli/commands/sample.h"
#include "cli/commands/show.h"
#include "cli/commands/simulate.h"
#include "cli/commands/state.h"
#include "cli/commands/top.h"
#include "cli/commands/train_tokenizer.h"
#include "cli/did_you_mean.h"
#include "cli/exit_code.h"
#include "cli/explain.h"
#include "cli/output.h"
#include "cli/yaml_text.h"
#include "runtime/posix/posix_files.h"
#include "runtime/posix/sentencepiece_program.h"

namespace skerry::cli {
namespace {

absl::Status ChangeCluster(const Arguments& arguments, Client& client,
                           const Output& output) {
  switch (arguments.command) {
    case Command::kSubmit:
      return SubmitJob(client, arguments.file, output).status();
    case Command::kApply:
      return ApplyJob(client, arguments.file, output);
    case Command::kPlan:
      return PlanJob(client, arguments.file, output);
    case Command::kCancel:
      return CancelJob(client, arguments.name, arguments.sure, output);
    case Command::kDeleteJob:
      return DeleteJob(client, arguments.name, arguments.sure, output);
    case Command::kPause:
      return PauseJob(client, arguments.name, output);
    case Command::kResume:
      return ResumeJob(client, arguments.name, output);
    case Command::kCordon:
      return SetIntent(client, arguments.worker, v1::WORKER_INTENT_CORDON,
                       output);
    case Command::kUncordon:
      return SetIntent(client, arguments.worker, v1::WORKER_INTENT_SERVE,
                       output);
    case Command::kDrain:
      return SetIntent(client, arguments.worker, v1::WORKER_INTENT_DRAIN,
                       output);
    case Command::kClean:
      return CleanWorker(client, arguments.worker, arguments.folders,
                         arguments.sure, output);
    default:
      return absl::InternalError("not a command for the coordinator");
  }
}

absl::Status RunOnCluster(const Arguments& arguments, Client& client,
                          const Output& output) {
  switch (arguments.command) {
    case Command::kGetJobs:
      return GetJobs(client, arguments.list, output);
    case Command::kGetJob:
      return GetJob(client, arguments.name, output);
    case Command::kGetWorkers:
      return GetWorkers(client, arguments.list, output);
    case Command::kGetIslands:
      return GetIslands(client, arguments.list, output);
    case Command::kDescribeJob:
      return DescribeJob(client, arguments.name, output);
    case Command::kDescribeWorker:
      return DescribeWorker(client, arguments.worker, output);
    case Command::kLogs:
      return ShowEvents(client, arguments.name, arguments.events, output);
    case Command::kTop:
      return ShowTop(client, arguments.top, isatty(STDOUT_FILENO) == 1, output);
    case Command::kAuditData:
      return AuditData(client, arguments.name, output);
    case Command::kGenerate:
      return GenerateText(client, arguments.generate, output);
    case Command::kCheckpointCreate: {
      runtime::PosixFiles files(runtime::PosixFiles::Access::kUmask);
      return CreateCheckpoint(client, arguments.checkpoint, files, output);
    }
    case Command::kRestore: {
      runtime::PosixFiles files;
      return RestoreJob(client, arguments.name, arguments.restore, files,
                        output);
    }
    case Command::kVersion:
      return ShowVersion(client, output);
    default:
      return ChangeCluster(arguments, client, output);
  }
}

absl::StatusOr<ExitCode> SubmitAndWatch(const Arguments& arguments,
                                        Client& client, const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const std::string name,
                          SubmitJob(client, arguments.file, output));
  output.out << std::flush;
  DetachOnInterrupt(name);
  return WatchJob(client, name, output);
}

// Commands that end as the job, the worker or the checks do.
absl::StatusOr<ExitCode> Follow(const Arguments& arguments, Client& client,
                                const std::string& address,
                                const Output& output) {
  switch (arguments.command) {
    case Command::kWatchJob:
      return WatchJob(client, arguments.name, output);
    case Command::kWaitJob:
      return WaitJob(client, arguments.name, arguments.wait, output);
    case Command::kWaitWorker:
      return WaitWorker(client, arguments.worker, arguments.wait, output);
    case Command::kDoctor:
      return RunDoctor(client, address, arguments.doctor, output);
    case Command::kSubmit:
      if (arguments.follow) return SubmitAndWatch(arguments, client, output);
      [[fallthrough]];
    default: {
      const absl::Status ran = RunOnCluster(arguments, client, output);
      if (!ran.ok()) return ran;
      return ExitCode::kOk;
    }
  }
}

// Commands about checkpoints, journals and data; none when it is another.
std::optional<absl::Status> RunOnFiles(const Arguments& arguments,
                                       runtime::PosixFiles& files,
                                       const Output& output) {
  switch (arguments.command) {
    case Command::kDataImport:
      return DataImport(arguments.import, files, output.out);
    case Command::kDataPrepare: {
      DataPrepareArguments options = arguments.prepare;
      options.sentencepiece_program = runtime::SentencePieceBeside();
      return DataPrepare(options, files, output);
    }
    case Command::kTrainTokenizer:
      return TrainTokenizer(arguments.tokenizer, files, output.out);
    case Command::kSample: {
      SampleArguments sample = arguments.sample;
      sample.model.sentencepiece_program = runtime::SentencePieceBeside();
      return SampleTexts(sample, files, output);
    }
    case Command::kEvaluate: {
      EvaluateArguments evaluate = arguments.evaluate;
      evaluate.model.sentencepiece_program = runtime::SentencePieceBeside();
      return EvaluateModel(evaluate, files, output);
    }
    case Command::kDescribeModel:
      return DescribeModel(arguments.model, output);
    case Command::kSimulate:
      return Simulate(arguments.simulate, output);
    case Command::kCheckpointList:
      return ListCheckpoints(arguments.checkpoint, files, output);
    case Command::kCheckpointVerify:
      return VerifyCheckpoints(arguments.checkpoint, files, output);
    case Command::kCheckpointExport:
      return ExportCheckpoint(arguments.checkpoint, files, output);
    case Command::kStateExport:
      return ExportState(arguments.state, output);
    case Command::kStateVerify:
      return VerifyState(arguments.state, output);
    case Command::kStateBackup:
      return BackUpState(arguments.state, output);
    default:
      return std::nullopt;
  }
}

// Commands that need no coordinator; none when it is another.
std::optional<absl::Status> RunAlone(const Arguments& arguments,
                                     runtime::PosixFiles& files,
                                     const Output& output) {
  switch (arguments.command) {
    case Command::kExplain:
      return ExplainField(arguments.field, output);
    case Command::kConfigGet:
      return GetContexts(files, output);
    case Command::kConfigSet:
      return SetContext(arguments.config, arguments.coordinator, files, output);
    case Command::kConfigUse:
      return UseContext(arguments.config, files, output);
    case Command::kConfigDelete:
      return DeleteContext(arguments.config, files);
    case Command::kCompletion:
      return PrintCompletionScript(arguments.shell, output);
    case Command::kComplete:
      PrintCandidates(CompleteArguments(arguments.half), arguments.coordinator,
                      files, output.out);
      return absl::OkStatus();
    default:
      return RunOnFiles(arguments, files, output);
  }
}

// With the nearest name that there is, if it was a name that is not there.
absl::Status WithHint(const absl::Status& status, const Arguments& arguments,
                      Client& client) {
  std::vector<std::string> known;
  std::string wanted;
  if (absl::StartsWith(status.message(), "no job named")) {
    wanted = arguments.name;
    const auto jobs = client.ListJobs();
    if (!jobs.ok()) return status;
    for (const auto& job : jobs->jobs()) known.push_back(job.spec().name());
  } else if (absl::StartsWith(status.message(), "no worker named")) {
    wanted = arguments.worker;
    const auto workers = client.ListWorkers();
    if (!workers.ok()) return status;
    for (const auto& one : workers->workers()) known.push_back(one.worker());
  }
  return absl::Status(
      status.code(), absl::StrCat(status.message(), DidYouMean(wanted, known)));
}

absl::StatusOr<ExitCode> Run(const Arguments& arguments, const Output& output) {
  // What a user makes is for whom the umask says.
  runtime::PosixFiles files(runtime::PosixFiles::Access::kUmask);
  const std::optional<absl::Status> alone = RunAlone(arguments, files, output);
  if (alone.has_value()) {
    if (!alone->ok()) return *alone;
    return ExitCode::kOk;
  }
  std::string address = arguments.coordinator;
  if (!arguments.coordinator_given) {
    SKERRY_ASSIGN_OR_RETURN(
        address, ResolveCoordinator(arguments.context, address, files));
  }
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Make(address);
  if (!client.ok()) {
    output.err << "skerryctl: " << client.status().message() << "\n";
    return ExitCode::kUsage;
  }
  absl::StatusOr<ExitCode> code = Follow(arguments, **client, address, output);
  if (absl::IsNotFound(code.status())) {
    return WithHint(code.status(), arguments, **client);
  }
  return code;
}

ExitCode Main(std::vector<std::string> words) {
  std::ios::sync_with_stdio(false);
  const Parsed parsed = ParseArguments(std::move(words));
  if (!parsed.arguments.has_value()) {
    if (parsed.code == ExitCode::kOk) {
      std::cout << parsed.text;
    } else {
      std::cerr << "skerryctl: " << parsed.text;
    }
    return parsed.code;
  }
  YamlStream yaml(std::cout);
  const bool as_yaml = parsed.arguments->form == OutputForm::kYaml;
  const Output output{as_yaml ? OutputForm::kJson : parsed.arguments->form,
                      as_yaml ? yaml : std::cout, std::cerr};
  const absl::StatusOr<ExitCode> code = Run(*parsed.arguments, output);
  if (!output.out.flush()) {
    std::cerr << "skerryctl: cannot write to standard output\n";
    return ExitCode::kInternal;
  }
  if (code.ok()) return *code;
  std::cerr << "skerryctl: " << code.status().message() << "\n";
  return ExitCodeFor(code.status());
}

}  // namespace
}  // namespace skerry::cli

int main(int argc, char** argv) {
  return static_cast<int>(skerry::cli::Main({argv + 1, argv + argc}));
}
