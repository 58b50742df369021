// cli/commands/describe_stages.h
//
// What `skerryctl describe model` says of a model that is cut into stages.
#ifndef SKERRY_CLI_COMMANDS_DESCRIBE_STAGES_H_
#define SKERRY_CLI_COMMANDS_DESCRIBE_STAGES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/exec/stage_summary.h"
#include "model/spec/graph.h"

namespace skerry::cli {

// The positions of `names`, operators before which to cut.
//
// Errors: InvalidArgument for a name the graph has not, with names like it, and
// for places where it cannot be cut.
absl::StatusOr<std::vector<int>> CutsBefore(
    const model::Graph& graph, const std::vector<std::string>& names);

// The cuts of `stages` stages of about equal work.
//
// Errors: InvalidArgument for more stages than the graph has or than a search
// takes.
absl::StatusOr<std::vector<int>> CutsInto(const model::Graph& graph, int stages,
                                          int rows, int columns);

// "2.5 GFLOP".
std::string FlopsText(double flops);

// Lines for people.
std::string StagesText(const model::CutSummary& cut, int rows, int columns);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DESCRIBE_STAGES_H_
