// cli/commands/describe_model.h
//
// skerryctl describe model: what training a config.json would take. Speaks to
// no coordinator.
#ifndef SKERRY_CLI_COMMANDS_DESCRIBE_MODEL_H_
#define SKERRY_CLI_COMMANDS_DESCRIBE_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/command.h"
#include "cli/output.h"

namespace skerry::cli {

struct DescribeModelArguments {
  std::string file;  // a Hugging Face config.json
  int samples = 1;   // of a micro-batch
  int tokens = 0;    // of a sample; 0 for the model's context
  int threads = 1;
  bool recompute = false;  // as training.recompute of a job
  // Into how many stages of about equal work to cut the model, or the operators
  // before which to cut it. Whole with 0 and none; both is not asked.
  int stages = 0;
  std::vector<std::string> cuts;
};

// Prints parameters, floating-point operations of one micro-batch, and the
// memory of a trainer that runs it. If the model is cut, it prints the same for
// every stage, with the values that go from one to the next.
//
// Errors: InvalidArgument for a file that cannot be read or is no model that
// Skerry trains, and for numbers out of range.
absl::Status DescribeModel(const DescribeModelArguments& arguments,
                           const Output& output);

Command DescribeModelCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DESCRIBE_MODEL_H_
