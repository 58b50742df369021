// job/codec_review.h
//
// What is wrong with the codec that a submitted job names, beside its outer
// loop.
#ifndef SKERRY_JOB_CODEC_REVIEW_H_
#define SKERRY_JOB_CODEC_REVIEW_H_

#include <optional>
#include <string>

#include "job/spec_problems.h"

namespace skerry::job {

// `codec` is a codec's name or a policy's. `error_max` is the relative root
// mean square error of one encoding that the job accepts: only adaptive takes
// one, and none below that of the menu's most exact codec.
void ReviewCodec(const std::string& codec, std::optional<double> error_max,
                 SpecProblems& problems);

// outer.beta of a job that does not set it.
double StandardBeta(const std::string& codec);

// Of codecs that the job names; adaptive leaves out what diverges by itself.
// `beta` is the error-feedback factor, `momentum` the outer optimizer's.
void ReviewDivergence(const std::string& codec, double beta, double momentum,
                      SpecProblems& problems);

}  // namespace skerry::job

#endif  // SKERRY_JOB_CODEC_REVIEW_H_
