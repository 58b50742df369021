// cli/model_place.h
//
// Where the model of a job that has ended is, for how long, and how to get it
// out.
#ifndef SKERRY_CLI_MODEL_PLACE_H_
#define SKERRY_CLI_MODEL_PLACE_H_

#include <string>

#include "proto/skerry/v1/operator.pb.h"

namespace skerry::cli {

// Lines for people; empty for a job that has not ended.
std::string ModelPlaceText(const v1::JobView& job);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_MODEL_PLACE_H_
