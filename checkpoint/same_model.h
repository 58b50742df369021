// checkpoint/same_model.h
//
// Compares the weights of two models.
#ifndef SKERRY_CHECKPOINT_SAME_MODEL_H_
#define SKERRY_CHECKPOINT_SAME_MODEL_H_

#include <string_view>

#include "absl/status/status.h"

namespace skerry::checkpoint {

// Checks that two texts of a config.json are of one model. Keys that only
// initial weights depend on may differ. Errors: InvalidArgument, naming every
// field that differs with both values ("n_embd 64 and 128"), or the text that
// is refused.
absl::Status CheckSameModel(std::string_view job_config,
                            std::string_view found_config);

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_SAME_MODEL_H_
