#include "cli/shared_options.h"

#include <CLI/CLI.hpp>

namespace skerry::cli {

void AddJobName(CLI::App& app, std::string& name) {
  app.add_option("NAME", name, "name of the job")->required();
}

void AddWorkerName(CLI::App& app, std::string& name) {
  app.add_option("WORKER", name, "name of the worker")->required();
}

void AddJob(CLI::App& app, JobArguments& wanted) {
  AddJobName(app, wanted.name);
}

void AddWorker(CLI::App& app, WorkerArguments& wanted) {
  AddWorkerName(app, wanted.name);
}

void AddJobFile(CLI::App& app, std::string& file) {
  app.add_option("-f,--file", file,
                 "YAML file of the job; examples/job.yaml is one")
      ->type_name("FILE")
      ->required();
}

void AddDescription(CLI::App& app, std::string& file) {
  app.add_option("--description", file,
                 "what the job's program trains, as `python -m skerry "
                 "describe` prints it; by default nothing is known of it")
      ->type_name("FILE");
}

void AddYes(CLI::App& app, bool& sure) {
  app.add_flag("-y,--yes", sure, "do not ask");
}

}  // namespace skerry::cli
