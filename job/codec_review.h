// job/codec_review.h
//
// Checks the codec that a submitted job names, by itself and together with the
// job's outer loop.
#ifndef SKERRY_JOB_CODEC_REVIEW_H_
#define SKERRY_JOB_CODEC_REVIEW_H_

#include <optional>
#include <string>

#include "job/spec_problems.h"

namespace skerry::job {

// `codec` is a codec's name or a policy's. `error_max` is the relative root
// mean square error of one encoding that the job accepts. Only adaptive takes
// one, and it may not be below the error of the menu's most exact codec.
void ReviewCodec(const std::string& codec, std::optional<double> error_max,
                 SpecProblems& problems);

// The outer.beta of a job that does not set it.
double StandardBeta(const std::string& codec);

// Finds whether a codec that the job names diverges. adaptive needs no check,
// because it does not choose codecs that diverge. `beta` is the error-feedback
// factor, `momentum` the outer optimizer's.
void ReviewDivergence(const std::string& codec, double beta, double momentum,
                      SpecProblems& problems);

}  // namespace skerry::job

#endif  // SKERRY_JOB_CODEC_REVIEW_H_
