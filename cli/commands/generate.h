// cli/commands/generate.h
//
// skerryctl generate: generates text with the current model of a job.
#ifndef SKERRY_CLI_COMMANDS_GENERATE_H_
#define SKERRY_CLI_COMMANDS_GENERATE_H_

#include <cstdint>
#include <string>

#include "cli/command.h"

namespace skerry::cli {

struct GenerateArguments {
  std::string job;
  std::string prompt;
  uint32_t tokens = 100;
  double temperature = 0.8;
  uint64_t seed = 0;
  double timeout_s = 60;
};

// Prints the prompt and the generated text, as the model's bytes. `err` gets
// the sequence of the model. Errors: the client's.
Command GenerateCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_GENERATE_H_
