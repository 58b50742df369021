// cli/commands/generate.h
//
// skerryctl generate: generates text with the current model of a job.
#ifndef SKERRY_CLI_COMMANDS_GENERATE_H_
#define SKERRY_CLI_COMMANDS_GENERATE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "cli/client.h"
#include "cli/output.h"

namespace skerry::cli {

struct GenerateArguments {
  std::string job;
  std::string prompt;
  uint32_t tokens = 100;
  double temperature = 0.8;
  uint64_t seed = 0;
  absl::Duration timeout = absl::Minutes(1);
};

// Prints the prompt and the generated text, as the model's bytes. `err` gets
// the sequence of the model. Errors: the client's.
absl::Status GenerateText(Client& client, const GenerateArguments& arguments,
                          const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_GENERATE_H_
