// cli/explain.h
//
// What a field of a job file means, from the one schema that there is:
// proto/skerry/v1/job.proto with its comments.
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
  // text | whole number | number | true or false | one of A, B | fields | list
  // of ...
  std::string type;
  std::string about;
  // Of a group: one level, in the order of the schema.
  std::vector<FieldHelp> fields;
};

// Errors: NotFound, with the nearest field that there is.
absl::StatusOr<FieldHelp> FindFieldHelp(const std::string& path);

// Every path that FindFieldHelp knows, but the empty one.
std::vector<std::string> AllFieldPaths();

// Errors: of FindFieldHelp.
absl::Status ExplainField(const std::string& path, const Output& output);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_EXPLAIN_H_
