// cli/job_description.h
//
// All that is known of one job, as people read it. Pure: a message in, text
// out.
#ifndef SKERRY_CLI_JOB_DESCRIPTION_H_
#define SKERRY_CLI_JOB_DESCRIPTION_H_

#include <string>

#include "proto/skerry/v1/operator.pb.h"

namespace skerry::cli {

std::string JobDescription(const v1::JobView& job);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_JOB_DESCRIPTION_H_
