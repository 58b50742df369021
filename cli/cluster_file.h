// cli/cluster_file.h
//
// A cluster as an operator describes it for a simulation: cli/simulation.proto
// has the fields.
#ifndef SKERRY_CLI_CLUSTER_FILE_H_
#define SKERRY_CLI_CLUSTER_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "simulator/cluster_shape.h"

namespace skerry::cli {

// Reads the YAML file at `path`. `flops_per_sample` is what training on one
// sample takes, for islands whose speed is given in operations; 0 when that is
// not known.
//
// Errors: InvalidArgument, one problem a line, with the file, and line and
// column where they are known.
absl::StatusOr<sim::ClusterShape> ReadClusterFile(const std::string& path,
                                                  double flops_per_sample);

// The first `count` islands alone. Requires: there are so many.
sim::ClusterShape FirstIslands(const sim::ClusterShape& cluster, size_t count);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_CLUSTER_FILE_H_
