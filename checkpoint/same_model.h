// checkpoint/same_model.h
//
// Compares the weights of two models.
#ifndef SKERRY_CHECKPOINT_SAME_MODEL_H_
#define SKERRY_CHECKPOINT_SAME_MODEL_H_

#include <string_view>

#include "absl/status/status.h"

namespace skerry::checkpoint {

// Both are texts of a config.json. What only initial weights depend on may
// differ. Errors: InvalidArgument, naming every field that differs with both
// values ("n_embd 64 and 128"), or the text that is refused.
absl::Status CheckSameModel(std::string_view job_config,
                            std::string_view found_config);

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_SAME_MODEL_H_
