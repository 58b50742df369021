// cli/commands/evaluate.h
//
// skerryctl eval: how well a model in a folder predicts text.
#ifndef SKERRY_CLI_COMMANDS_EVALUATE_H_
#define SKERRY_CLI_COMMANDS_EVALUATE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/command.h"
#include "cli/commands/local_model.h"
#include "cli/output.h"
#include "runtime/files.h"

namespace skerry::cli {

struct EvaluateArguments {
  LocalModelArguments model;
  // Exactly one of these is given: a prepared data set, or a file that is one
  // document.
  std::string data = "";
  std::string text = "";
  // The split of the data set that is read.
  std::string split = "validation";
  // Tokens a sample; 0: the model's context.
  int tokens = 0;
  // The most samples that are read, from the first on; 0: all.
  uint64_t samples = 0;
};

// Samples lie side by side and share no target; a tail too short for one is
// unused, unless it is all there is. Prints the mean cross-entropy in nats a
// token and its exponential.
// Errors: those of OpenLocalModel and of the data; InvalidArgument.
absl::Status EvaluateModel(const EvaluateArguments& arguments,
                           runtime::Files& files, const Output& output);

Command EvaluateCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_EVALUATE_H_
