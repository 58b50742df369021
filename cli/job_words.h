// cli/job_words.h
//
// Words about a job that tables, descriptions and lines of progress share.
#ifndef SKERRY_CLI_JOB_WORDS_H_
#define SKERRY_CLI_JOB_WORDS_H_

#include <string>

#include "proto/skerry/v1/operator.pb.h"

namespace skerry::cli {

// The phase in lower case, such as "running".
std::string PhaseText(v1::JobPhase phase);

// The outer method in lower case, such as "co2".
std::string MethodText(v1::JobSpec::OuterMethod method);

// Whether samples are counted in tokens. A program need not train on tokens.
bool HasTokens(const v1::JobView& job);

// The speed in a column of tokens a second: "2176", or "8.5 samples/s" where
// samples have no tokens.
std::string SpeedCell(const v1::JobView& job);
// "2176 tokens/s" or "8.5 samples/s".
std::string SpeedText(const v1::JobView& job);

// What trainers report beside the loss, as "accuracy 0.91, grad/norm 1.2".
std::string MetricsText(const v1::JobView& job);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_JOB_WORDS_H_
