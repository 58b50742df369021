// worker/main/trainers.h
//
// Knows the programs that train: which flags of the command line name them, and
// how the worker starts them.
#ifndef SKERRY_WORKER_MAIN_TRAINERS_H_
#define SKERRY_WORKER_MAIN_TRAINERS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/log.h"
#include "worker/daemon/programs.h"

namespace skerry::worker {

struct Trainers {
  std::string engine;
  int engine_threads = 1;
  std::vector<std::string> programs;  // NAME=FILE, each checked
  // Starts those programs: with `python` if their files are not executable, and
  // as many processes as `ranks` that compute together.
  std::string attach;
  std::string python = "python3";
  int ranks = 1;
};

// Reads the flags into `trainers`, which outlives the parsing. The defaults are
// beside `program`, which is argv[0].
void AddTrainers(CLI::App& app, const char* program, Trainers& trainers);

// Errors: a program that trains cannot be started; the line names the flag.
absl::Status CheckTrainers(const Trainers& trainers);

std::vector<AllowedProgram> AllowedPrograms(const Trainers& trainers);

// Program and flags, which lack the socket's.
std::vector<std::string> EngineCommand(const Trainers& trainers,
                                       runtime::Severity log_level);
// Likewise, without the program to run and the folder of its logs.
std::vector<std::string> AttachCommand(const Trainers& trainers,
                                       runtime::Severity log_level);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_MAIN_TRAINERS_H_
