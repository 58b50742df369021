// cli/simulate_arguments.h
//
// The part of the command line that is about simulated clusters.
#ifndef SKERRY_CLI_SIMULATE_ARGUMENTS_H_
#define SKERRY_CLI_SIMULATE_ARGUMENTS_H_

#include "cli/commands/simulate.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skerry::cli {

// The values go to `wanted`, which outlives the parse.
void AddSimulateOptions(CLI::App* simulate, SimulateArguments& wanted);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_SIMULATE_ARGUMENTS_H_
