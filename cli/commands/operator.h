// cli/commands/operator.h
//
// skerryctl operator create: another person who may use the cluster. And
// skerryctl forget worker, which frees a worker's name.
#ifndef SKERRY_CLI_COMMANDS_OPERATOR_H_
#define SKERRY_CLI_COMMANDS_OPERATOR_H_

#include <string>

#include "cli/command.h"

namespace skerry::cli {

struct OperatorArguments {
  std::string name;
  std::string role;
  uint32_t days = 30;
  // Empty: NAME.yaml.
  std::string out;
};

Command CreateOperatorCommand();
Command ForgetWorkerCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_OPERATOR_H_
