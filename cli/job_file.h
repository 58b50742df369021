// cli/job_file.h
//
// Turns a job file of an operator into the job that the coordinator takes.
#ifndef SKERRY_CLI_JOB_FILE_H_
#define SKERRY_CLI_JOB_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/field_places.h"
#include "proto/skerry/v1/job.pb.h"

namespace skerry::cli {

struct JobFile {
  v1::JobSpec spec;
  // Places what the coordinator says of a field.
  FieldPlaces places;
};

// Reads the YAML file at `path`. It has the fields of JobSpec and two more:
// model.config_file is a config.json whose text becomes model.config_json, and
// model.program.parameters a mapping whose JSON becomes parameters_json. A
// relative path starts at the file's folder, and ~/ is this user's home folder.
// If data.manifest_sha256 is not given, it is computed from
// data.path/manifest.json, which must then be on this machine, or in the object
// store that data.path names. model.checkpoint is completed in the same way
// (cli/job_checkpoint.h).
//
// The job is checked as the coordinator checks it (job/review.h), and against
// the data set if its manifest was read here. The coordinator judges what
// workers report.
//
// Errors: InvalidArgument with every problem, one a line in the order of the
// file: file, line, column, field, what is wrong.
absl::StatusOr<JobFile> ReadJobFile(const std::string& path);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_JOB_FILE_H_
