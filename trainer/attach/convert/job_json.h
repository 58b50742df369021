// trainer/attach/convert/job_json.h
//
// What a training program learns of its job.
#ifndef SKERRY_TRAINER_ATTACH_CONVERT_JOB_JSON_H_
#define SKERRY_TRAINER_ATTACH_CONVERT_JOB_JSON_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "proto/skerry/v1/job.pb.h"

namespace skerry::trainer::attach {

inline constexpr size_t kJobJsonBytesMax = size_t{96} << 10;

// The value of SKERRY_JOB (docs/formats/attach.md). Errors: those of
// JobSpecFromProto; InvalidArgument when the job names no program, its
// parameters are no JSON object, or the value is longer than kJobJsonBytesMax.
absl::StatusOr<std::string> JobJson(const v1::JobSpec& job);

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_CONVERT_JOB_JSON_H_
