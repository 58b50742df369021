// cli/commands/simulate.h
//
// skerryctl simulate: forecasts how a job would run on a cluster that a file
// describes, and which of several plans is quickest. Needs no coordinator.
#ifndef SKERRY_CLI_COMMANDS_SIMULATE_H_
#define SKERRY_CLI_COMMANDS_SIMULATE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/simulation_plans.h"

namespace skerry::cli {

struct SimulateArguments {
  std::string job;      // as for submit
  std::string cluster;  // cli/cluster_file.h
  // cli/program_description.h, of a job with a program.
  std::string description;
  PlanLists lists;
  // Mean time for which each worker stays until it is lost again, and for which
  // it is then away. Workers are never lost if the first is zero.
  absl::Duration preempt_every;
  absl::Duration away = absl::Minutes(5);
  // cli/spot_trace.h; empty: none.
  std::string trace;
  // How many rounds of each worker are simulated. A longer job is cut to these.
  uint64_t rounds = 100;
  uint64_t seed = 1;
};

// Prints a row for each plan. Before a plan runs, its name goes to
// `output.err`. The same arguments print the same.
//
// Errors: InvalidArgument for files that cannot be read or are wrong, and plans
// that no coordinator takes; FailedPrecondition when a job does not end.
absl::Status Simulate(const SimulateArguments& arguments, const Output& output);

Command SimulateCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_SIMULATE_H_
