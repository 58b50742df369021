// cli/explain.h
//
// Explains the fields of a job file from the comments of their only schema,
// proto/skerry/v1/job.proto.
#ifndef SKERRY_CLI_EXPLAIN_H_
#define SKERRY_CLI_EXPLAIN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/output.h"

namespace skerry::cli {

struct FieldHelp {
  // Path from the job, as "training.tau"; empty for the job itself.
  std::string path;
  // One of "text", "whole number", "number", "true or false", "one of A, B" and
  // "fields". A repeated field has "list of" before it.
  std::string type;
  std::string about;
  // The fields of a group, one level deep, in the order of the schema.
  std::vector<FieldHelp> fields;
};

// Errors: NotFound, which suggests the nearest field.
absl::StatusOr<FieldHelp> FindFieldHelp(const std::string& path);

// Every path that FindFieldHelp knows, except the empty one.
std::vector<std::string> AllFieldPaths();

// Prints the help of a field. Errors: those of FindFieldHelp.
absl::Status ExplainField(const std::string& path, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_EXPLAIN_H_
