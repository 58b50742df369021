// cli/spot_trace.h
//
// When a cloud took machines away and gave them back, as a file of lines
// `seconds,worker,down` and `seconds,worker,up`.
#ifndef SKERRY_CLI_SPOT_TRACE_H_
#define SKERRY_CLI_SPOT_TRACE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "simulator/absences.h"
#include "simulator/cluster_shape.h"

namespace skerry::cli {

// Seconds count from the job's start. Workers are named by their island and an
// index, and all are up at first. Empty lines and lines that begin with # are
// skipped. A worker that goes down for the last time stays away.
//
// Errors: InvalidArgument as file:line: what is wrong.
absl::StatusOr<std::vector<sim::Absence>> ParseSpotTrace(
    const std::string& file_name, const std::string& text,
    const sim::ClusterShape& cluster);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_SPOT_TRACE_H_
