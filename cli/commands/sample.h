// cli/commands/sample.h
//
// skerryctl sample: texts from a model in a folder.
#ifndef SKERRY_CLI_COMMANDS_SAMPLE_H_
#define SKERRY_CLI_COMMANDS_SAMPLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/command.h"
#include "cli/commands/local_model.h"
#include "cli/output.h"
#include "runtime/files.h"

namespace skerry::cli {

struct SampleArguments {
  LocalModelArguments model;
  // Computed side by side.
  std::vector<std::string> prompts;
  uint64_t tokens = 100;
  double temperature = 0.8;
  int top_k = 0;
  double top_p = 1;
  // Prompt i is drawn for with seed + i.
  uint64_t seed = 0;
  // A text ends before the first of these that it contains.
  std::vector<std::string> stops;
};

// Prints each prompt and its generated text, as the model's bytes, with a line
// break after each. JSON also has the reason why the text ended. Errors: those
// of OpenLocalModel; InvalidArgument that names the option; FailedPrecondition
// when there is no tokenizer.
absl::Status SampleTexts(const SampleArguments& arguments,
                         runtime::Files& files, const Output& output);

Command SampleCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_SAMPLE_H_
