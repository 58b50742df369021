// trainer/main/trainer_process.h
//
// What every trainer program does: it listens on a Unix socket for one worker,
// and ends when it is told to or when the worker ends.
#ifndef SKERRY_TRAINER_MAIN_TRAINER_PROCESS_H_
#define SKERRY_TRAINER_MAIN_TRAINER_PROCESS_H_

#include <initializer_list>
#include <optional>
#include <string>

#include "runtime/log.h"
#include "runtime/posix/signal_wait.h"
#include "runtime/posix/spdlog_log.h"
#include "trainer/service/job_trainer.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skerry::trainer {

struct ProcessFlags {
  std::string socket;
  int parent_pid = 0;
  runtime::Severity log_level = runtime::Severity::kInfo;
};

// Adds --version, --socket, --parent-pid and --log-level, whose values go to
// `flags`, which outlives `app`.
void AddProcessFlags(CLI::App& app, ProcessFlags& flags);

// Returns the exit code when the program should not run: the command line is
// wrong, or asks for help.
std::optional<int> ParseProcessFlags(CLI::App& app, const ProcessFlags& flags,
                                     int argc, char** argv);

// Made by main before it starts a thread. From then on the process logs, and
// ends with its parent.
class TrainerProcess {
 public:
  // `program` is the program's name, a literal.
  TrainerProcess(const char* program, ProcessFlags flags);
  ~TrainerProcess();
  TrainerProcess(const TrainerProcess&) = delete;
  TrainerProcess& operator=(const TrainerProcess&) = delete;

  // Serves one worker until it is told to exit. Returns the exit code.
  int Serve(JobTrainerMaker make);

 private:
  const char* const program_;
  const ProcessFlags flags_;
  runtime::SignalWait signals_;
  runtime::SpdlogSink sink_;
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_MAIN_TRAINER_PROCESS_H_
