// skerry-attach: a user's own training program as a worker's trainer.
#include <memory>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "base/status.h"
#include "runtime/command_line/number_option.h"
#include "trainer/attach/service/attached_trainer.h"
#include "trainer/main/trainer_process.h"
#include "trainer/service/job_trainer.h"

namespace skerry::trainer {
namespace {

constexpr int kRanksMax = 256;

int RunAttach(int argc, char** argv) {
  ProcessFlags flags;
  attach::AttachOptions options;
  CLI::App app("Runs a training program as the trainer of one Skerry worker.",
               "skerry-attach");
  AddProcessFlags(app, flags);
  app.add_option("--program", options.program,
                 "file of the program; it runs by itself when it may be "
                 "executed, and under --python otherwise")
      ->required();
  app.add_option("--python", options.python, "what runs other files")
      ->capture_default_str();
  runtime::AddNumber(app, "--ranks", options.ranks, {1, kRanksMax},
                     "processes of the program that train together");
  app.add_option("--log-directory", options.log_directory,
                 "folder for what the ranks print: rank-0.log and so on")
      ->required();
  if (const auto code = ParseProcessFlags(app, flags, argc, argv)) return *code;
  TrainerProcess process("skerry-attach", flags);
  return process.Serve(
      [&options](const v1::JobSpec& job, ShardCheck,
                 StopRequested stop) -> absl::StatusOr<JobTrainer> {
        JobTrainer made;
        SKERRY_ASSIGN_OR_RETURN(
            made.trainer, attach::AttachedTrainer::Start(options, job, stop));
        return made;
      });
}

}  // namespace
}  // namespace skerry::trainer

int main(int argc, char** argv) {
  return skerry::trainer::RunAttach(argc, argv);
}
