#include "cli/commands/generate.h"

#include <CLI/CLI.hpp>

#include "absl/time/time.h"
#include "base/status.h"
#include "cli/json.h"
#include "cli/number_limits.h"
#include "cli/shared_options.h"
#include "runtime/command_line/number_option.h"

namespace skerry::cli {
namespace {

absl::Status GenerateText(const GenerateArguments& arguments, Client& client,
                          const Output& output) {
  v1::GenerateTextRequest request;
  request.set_name(arguments.job);
  request.set_prompt(arguments.prompt);
  request.set_tokens(arguments.tokens);
  request.set_temperature(arguments.temperature);
  request.set_seed(arguments.seed);
  SKERRY_ASSIGN_OR_RETURN(
      const v1::GenerateTextReply reply,
      client.Generate(request, absl::Seconds(arguments.timeout_s)));
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(reply);
    return absl::OkStatus();
  }
  output.out << arguments.prompt << reply.text() << "\n";
  output.err << "from sequence " << reply.sequence() << "\n";
  return absl::OkStatus();
}

void AddOptions(CLI::App& app, GenerateArguments& wanted) {
  AddJobName(app, wanted.job);
  app.add_option("--prompt", wanted.prompt, "how the text begins")->required();
  runtime::AddNumber(app, "--tokens", wanted.tokens, {.low = 1},
                     "tokens to add")
      ->capture_default_str();
  runtime::AddNumber(app, "--temperature", wanted.temperature,
                     {0, kTemperatureMax},
                     "0 takes the likeliest token, 1 draws as the model says")
      ->capture_default_str();
  runtime::AddNumber(app, "--seed", wanted.seed, {},
                     "seed of the draw: the same one gives the same text")
      ->capture_default_str();
  runtime::AddNumber(app, "--timeout", wanted.timeout_s, {0.001, 86400},
                     "give up after so many seconds")
      ->capture_default_str();
}

}  // namespace

Command GenerateCommand() {
  return MakeCommand<GenerateArguments>({.words = "generate",
                                         .about = "text from a job's model",
                                         .add_options = AddOptions,
                                         .run = GenerateText});
}

}  // namespace skerry::cli
