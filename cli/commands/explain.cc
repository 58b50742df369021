#include "cli/commands/explain.h"

#include <CLI/CLI.hpp>
#include <string>

#include "cli/explain.h"

namespace skerry::cli {
namespace {

struct ExplainArguments {
  // "training.tau"; empty for the whole job.
  std::string field;
};

void AddOptions(CLI::App& app, ExplainArguments& wanted) {
  app.add_option("FIELD", wanted.field, "as training.tau; default: all fields");
}

absl::Status Explain(const ExplainArguments& arguments, const Output& output) {
  return ExplainField(arguments.field, output);
}

}  // namespace

Command ExplainCommand() {
  return MakeCommand<ExplainArguments>(
      {.words = "explain",
       .about = "what a field of a job file means",
       .add_options = AddOptions,
       .run = Explain});
}

}  // namespace skerry::cli
