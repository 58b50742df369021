// cli/shared_options.h
//
// Adds arguments and options that several commands take.
#ifndef SKERRY_CLI_SHARED_OPTIONS_H_
#define SKERRY_CLI_SHARED_OPTIONS_H_

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace skerry::cli {

// A command about one job, or one worker, that takes nothing else.
struct JobArguments {
  std::string name;
};
struct WorkerArguments {
  std::string name;
};
void AddJob(CLI::App& app, JobArguments& wanted);
void AddWorker(CLI::App& app, WorkerArguments& wanted);

void AddJobName(CLI::App& app, std::string& name);
void AddWorkerName(CLI::App& app, std::string& name);
// Adds the file of a job.
void AddJobFile(CLI::App& app, std::string& file);
// Adds the file that says what a job's program trains.
void AddDescription(CLI::App& app, std::string& file);
// Adds the flag with which the command does not ask.
void AddYes(CLI::App& app, bool& sure);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_SHARED_OPTIONS_H_
