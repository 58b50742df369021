// cli/job_file.h
//
// A job as an operator writes it, and as the coordinator takes it.
#ifndef SKERRY_CLI_JOB_FILE_H_
#define SKERRY_CLI_JOB_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/skerry/v1/job.pb.h"

namespace skerry::cli {

// Reads the YAML file at `path`: the fields of JobSpec, and model.config_file,
// a config.json whose text becomes model.config_json. A relative data.path is
// taken from the file's folder. data.manifest_sha256, when it is not given, is
// that of data.path/manifest.json, which then has to be on this machine.
//
// model.checkpoint is made complete likewise (cli/job_checkpoint.h).
//
// Errors: InvalidArgument, one problem a line, with file, line, column and
// field where they are known. Whether the values make sense together is the
// coordinator's to say.
absl::StatusOr<v1::JobSpec> ReadJobFile(const std::string& path);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_JOB_FILE_H_
