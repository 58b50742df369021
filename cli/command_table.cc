#include "cli/command_table.h"

#include "cli/commands/audit.h"
#include "cli/commands/checkpoint.h"
#include "cli/commands/clean.h"
#include "cli/commands/complete.h"
#include "cli/commands/config.h"
#include "cli/commands/config_import.h"
#include "cli/commands/data_import.h"
#include "cli/commands/data_prepare.h"
#include "cli/commands/data_push.h"
#include "cli/commands/describe.h"
#include "cli/commands/describe_model.h"
#include "cli/commands/doctor.h"
#include "cli/commands/end_job.h"
#include "cli/commands/evaluate.h"
#include "cli/commands/events.h"
#include "cli/commands/explain.h"
#include "cli/commands/generate.h"
#include "cli/commands/get.h"
#include "cli/commands/intent.h"
#include "cli/commands/operator.h"
#include "cli/commands/pause.h"
#include "cli/commands/plan.h"
#include "cli/commands/restore.h"
#include "cli/commands/revocation.h"
#include "cli/commands/sample.h"
#include "cli/commands/simulate.h"
#include "cli/commands/state.h"
#include "cli/commands/submit.h"
#include "cli/commands/token.h"
#include "cli/commands/top.h"
#include "cli/commands/train_tokenizer.h"
#include "cli/commands/version.h"
#include "cli/commands/wait.h"
#include "cli/commands/watch.h"

namespace skerry::cli {

const std::vector<CommandGroup>& CommandGroups() {
  static const auto* const groups = new std::vector<CommandGroup>{
      {"delete", "forgets one thing"},
      {"get", "lists"},
      {"describe", "everything about one thing"},
      {"watch", "follows one thing"},
      {"wait", "until something is as wanted"},
      {"audit", "checks what the journal says"},
      {"checkpoint", "a job's model in files"},
      {"data", "data sets"},
      {"state", "the journal of a coordinator that is stopped"},
      {"token", "lets workers join"},
      {"operator", "people who may use the cluster"},
      {"forget", "takes a name back"},
      {"revocation", "certificates that nobody believes any more"},
      {"config", "clusters by name"}};
  return *groups;
}

const std::vector<Command>& Commands() {
  static const auto* const commands = new std::vector<Command>{
      SubmitCommand(),
      ApplyCommand(),
      PlanCommand(),
      CancelCommand(),
      DeleteJobCommand(),
      PauseCommand(),
      ResumeCommand(),
      RestoreCommand(),
      CordonCommand(),
      UncordonCommand(),
      DrainCommand(),
      CleanCommand(),
      GetJobsCommand(),
      GetJobCommand(),
      GetWorkersCommand(),
      GetIslandsCommand(),
      DescribeJobCommand(),
      DescribeWorkerCommand(),
      DescribeModelCommand(),
      WatchJobCommand(),
      WaitJobCommand(),
      WaitWorkerCommand(),
      LogsCommand(),
      EventsCommand(),
      TopCommand(),
      AuditDataCommand(),
      DoctorCommand(),
      GenerateCommand(),
      CreateCheckpointCommand(),
      ListCheckpointsCommand(),
      VerifyCheckpointsCommand(),
      ExportCheckpointCommand(),
      DataPrepareCommand(),
      DataImportCommand(),
      DataPushCommand(),
      TrainTokenizerCommand(),
      SampleCommand(),
      EvaluateCommand(),
      SimulateCommand(),
      ExportStateCommand(),
      VerifyStateCommand(),
      BackUpStateCommand(),
      CreateTokenCommand(),
      ListTokensCommand(),
      DeleteTokenCommand(),
      ForgetWorkerCommand(),
      RevokeCommand(),
      ListRevocationsCommand(),
      LiftRevocationCommand(),
      CreateOperatorCommand(),
      GetContextsCommand(),
      SetContextCommand(),
      UseContextCommand(),
      DeleteContextCommand(),
      ImportConfigCommand(),
      ExplainCommand(),
      CompletionCommand(),
      VersionCommand(),
  };
  return *commands;
}

}  // namespace skerry::cli
